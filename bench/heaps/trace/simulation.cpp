#include "simulation.hpp"

namespace trace {

bool simulation::marked(const event &e) {
  if (!marks || e.kind != 'S' || (e.address != marks->begin && e.address != marks->end))
    return false;
  on = e.address == marks->begin;
  begun += on ? 1 : 0;
  return true;
}

void simulation::take(const event &e) {
  if (marked(e) || !on)
    return;
  if (e.kind == 'I') {
    ++executed;
    return;
  }
  const bool loads = e.kind != 'S';
  const bool stores = e.kind != 'L';
  const auto feed = [&](memory &m) {
    if (loads)
      m.load(e.address, e.bytes);
    if (stores)
      m.store(e.address, e.bytes);
  };
  for (memory &m : caches)
    feed(m);
  for (memory &m : tlbs)
    feed(m);
}

} // namespace trace
