#include "image/unwind.hpp"

#include "image/doubles.hpp"
#include "image/eh_frame.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nth::stack {

struct unwind_table::content {
  std::vector<cie> cies;
  std::vector<fde> fdes; // as `entries`
};

unwind_table::unwind_table() = default;
unwind_table::unwind_table(unwind_table &&) noexcept = default;
unwind_table &unwind_table::operator=(unwind_table &&) noexcept = default;
unwind_table::~unwind_table() = default;

unwind_table::unwind_table(const module &m) : content_(std::make_unique<content>()) {
  eh_frame table = read_eh_frame(m);
  std::ranges::stable_sort(table.fdes, {}, &fde::begin);
  // Of functions that the linker has folded into one, the first speaks for all.
  drop_doubles(table.fdes, &fde::begin);

  std::uint64_t budget = 1 << 20;
  for (const section &s : m.sections)
    if (s.name == ".gcc_except_table")
      budget = std::max(budget, std::min<std::uint64_t>(s.size, m.bytes_at(s.begin).size()));
  entries.reserve(table.fdes.size());
  for (const fde &f : table.fdes)
    entries.push_back(
        {f.begin, f.end, table.cies[f.common].signal_frame, read_landing_pads(m, f.lsda, f.begin, budget)});
  if (budget == 0)
    warnings.push_back(
        fmt::format("{}: too many landing pads for its exception tables; some are left out", m.path));
  if (table.damaged != 0)
    warnings.push_back(
        fmt::format("{}: {} damaged entries in .eh_frame are left out", m.path, table.damaged));
  if (table.cut)
    warnings.push_back(fmt::format("{}: .eh_frame ends within an entry; is the file cut short?", m.path));
  content_->cies = std::move(table.cies);
  content_->fdes = std::move(table.fdes);
}

const unwind_entry *unwind_table::entry_of(address a) const noexcept {
  auto after = std::ranges::upper_bound(entries, a, {}, &unwind_entry::begin);
  if (after == entries.begin())
    return nullptr;
  --after;
  return a < after->end ? &*after : nullptr;
}

std::vector<cfa_row> unwind_table::rows(const unwind_entry &e) const {
  if (content_ == nullptr)
    return {};
  const auto found = std::ranges::lower_bound(content_->fdes, e.begin, {}, &fde::begin);
  if (found == content_->fdes.end() || found->begin != e.begin)
    return {};
  return evaluate_cfa(content_->cies[found->common], *found);
}

cfa_row unwind_table::first_row(const unwind_entry &e) const {
  if (content_ == nullptr)
    return {};
  const auto found = std::ranges::lower_bound(content_->fdes, e.begin, {}, &fde::begin);
  return found != content_->fdes.end() && found->begin == e.begin
             ? first_cfa(content_->cies[found->common], *found)
             : cfa_row{};
}

} // namespace nth::stack
