#include "iso/long_series.hpp"

namespace nth::detail::iso {

// Beyond `far` neighbours are not followed: there it may have joined two of the longest.
void long_series::raise(slot_map &map, slot_range came, slot most) noexcept {
  if (bound >= most)
    return;
  const slot before = map.run_before(came.first, far);
  const slot behind = map.next_absent(came.end(), came.end() + far) - came.end();
  const slot length = before + came.count + behind;
  if (before < far && behind < far) {
    if (length > bound)
      remember({came.first - before, length});
    return;
  }
  const slot at_most = length + (before < far ? 0 : longest()) + (behind < far ? 0 : longest());
  if (at_most > bound)
    bound = at_most < most ? at_most : most;
}

// A range that the series touches is part of it now, or was longer once.
void long_series::remember(slot_range series) noexcept {
  for (int i = ranges; i-- > 0;) {
    const slot_range r = range[i];
    if (r.first > series.end() || series.first > r.end())
      continue;
    const slot first = r.first < series.first ? r.first : series.first;
    const slot end = r.end() > series.end() ? r.end() : series.end();
    series = {first, end - first};
    forget(i);
  }
  if (ranges == most_ranges) {
    int shortest = 0;
    for (int i = 1; i < ranges; ++i) {
      if (range[i].count < range[shortest].count)
        shortest = i;
    }
    if (range[shortest].count > series.count) {
      if (series.count > bound)
        bound = series.count;
      return;
    }
    if (range[shortest].count > bound)
      bound = range[shortest].count;
    forget(shortest);
  }
  range[ranges++] = series;
}

slot long_series::find(slot_map &map, slot count) noexcept {
  if (count <= bound) {
    const slot found = map.find(count);
    if (found == no_slot)
      start(count - 1);
    return found;
  }
  slot lowest = no_slot;
  for (int i = ranges; i-- > 0;) {
    slot longest_here = 0;
    slot_range left{};
    for (slot at = range[i].first; at < range[i].end();) {
      const slot_range run = map.next_run(at, range[i].end());
      if (run.count == 0)
        break;
      if (run.count >= count && (lowest == no_slot || run.first < lowest))
        lowest = run.first;
      if (run.count > longest_here)
        longest_here = run.count;
      at = run.end();
      left = left.count == 0 ? run : slot_range{left.first, run.end() - left.first};
    }
    range[i] = left;
    if (longest_here <= bound)
      forget(i);
  }
  return lowest;
}

slot long_series::longest() const noexcept {
  slot most = bound;
  for (int i = 0; i < ranges; ++i) {
    if (range[i].count > most)
      most = range[i].count;
  }
  return most;
}

} // namespace nth::detail::iso
