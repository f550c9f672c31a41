#include "cluster/purchases.hpp"

#include "cluster/progress.hpp"

namespace nth::detail::cluster {

namespace {

negotiator the_negotiator;

void send_message(void *, int to, const message &m) noexcept {
  transport::send(to, channel::slots, &m, message_bytes(m.runs));
}

void read_message(const envelope &e) noexcept {
  the_negotiator.receive(*static_cast<const message *>(e.data));
}

// `p` lies on the caller's stack, which stays where it is: a thread that waits here does not move.
void wait_for(purchase &p, bool may_suspend) noexcept {
  with_transport([&] { the_negotiator.want(p); });
  wait_until(may_suspend, [&] { return p.done.load(std::memory_order_acquire); });
}

taking bring(slot count, bool may_suspend, slot &first) noexcept {
  purchase p;
  p.count = count;
  wait_for(p, may_suspend);
  first = p.first;
  return p.result;
}

} // namespace

bool open_purchases(slot prebuy) noexcept {
  if (!the_negotiator.open(iso::the_slots, transport::rank(), transport::ranks(), prebuy,
                           carrier{send_message, nullptr}))
    return false;
  set_reader(channel::slots, read_message);
  if (transport::ranks() > 1)
    iso::slots_from_afar.store(bring, std::memory_order_release);
  return true;
}

void close_purchases() noexcept {
  iso::slots_from_afar.store(nullptr, std::memory_order_release);
  the_negotiator.close();
}

negotiation_numbers count_purchases() noexcept {
  negotiation_numbers n{};
  with_transport([&] { n = the_negotiator.count(); });
  return n;
}

taking regroup() noexcept {
  purchase p;
  with_transport([&] { the_negotiator.want_regrouping(p); });
  wait_until(true, [&] { return p.done.load(std::memory_order_acquire); });
  return p.result;
}

bool purchases_at_rest() noexcept {
  bool rest = false;
  with_transport([&] { rest = the_negotiator.is_quiet(); });
  return rest;
}

} // namespace nth::detail::cluster
