#include "code/row_reader.hpp"

#include <algorithm>

namespace nth::stack {

row_reader::part *row_reader::part_of(address a) {
  const auto holds = [a](const part &p) { return a >= p.entry->begin && a < p.entry->end; };
  if (last_ < parts_.size() && holds(parts_[last_]))
    return &parts_[last_];
  for (last_ = 0; last_ < parts_.size(); ++last_)
    if (holds(parts_[last_]))
      return &parts_[last_];
  const unwind_entry *e = unwind_.entry_of(a);
  if (e == nullptr)
    return nullptr;
  parts_.push_back({e, unwind_.rows(*e)});
  return &parts_.back();
}

const unwind_entry *row_reader::entry_of(address a) {
  const part *p = part_of(a);
  return p == nullptr ? nullptr : p->entry;
}

const cfa_row *row_reader::row_at(address a) {
  const part *p = part_of(a);
  if (p == nullptr)
    return nullptr;
  const auto after = std::upper_bound(p->rows.begin(), p->rows.end(), a,
                                      [](address at, const cfa_row &r) { return at < r.begin; });
  if (after == p->rows.begin())
    return nullptr;
  const cfa_row &r = *std::prev(after);
  return a < r.end ? &r : nullptr;
}

} // namespace nth::stack
