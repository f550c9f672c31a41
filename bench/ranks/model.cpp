// What the initiator of a system-wide negotiation (paper 004, section 4.4) computes, for any number of ranks: the real
// negotiator of one rank, the lists of all others made up, as a cyclic area has them at the start. No MPI: what messages
// cost is measured apart (purchase.cpp). One line of JSON for each number of ranks.
#include "cluster/negotiate.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <vector>

namespace {

using namespace nth::detail::cluster;
namespace iso = nth::detail::iso;

constexpr int repeats = 15;
constexpr int own_rank = 1;

double now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

struct post {
  long messages = 0;
  long bytes = 0;
  slot asked_room = 0;
};

void count_message(void *context, int, const message &m) noexcept {
  auto *p = static_cast<post *>(context);
  ++p->messages;
  p->bytes += static_cast<long>(message_bytes(m.runs));
  if (m.what == topic::gather)
    p->asked_room = m.count;
}

double one_negotiation(int ranks, post &sent) {
  iso::slot_setting setting;
  setting.bytes = std::size_t{1} << 40;
  setting.rank = own_rank;
  setting.ranks = ranks;
  setting.spread.kind = iso::spread::cyclic;
  iso::slot_store store;
  negotiator mine;
  if (!store.open(setting) || !mine.open(store, own_rank, ranks, 0, carrier{count_message, &sent}))
    std::abort();
  std::vector<char> room(message_bytes(most_runs));
  auto *list = new (room.data()) message;

  purchase p;
  p.count = 2;
  const double start = now_us();
  mine.want(p);
  message grant;
  grant.what = topic::grant;
  mine.receive(grant);
  double made_up = 0; // the time that this program takes for the lists of others
  const auto runs = static_cast<std::uint32_t>(sent.asked_room);
  for (int r = 0; r < ranks; ++r) {
    if (r == own_rank)
      continue;
    const double before = now_us();
    list->what = topic::list;
    list->from = r;
    list->runs = runs;
    list->longest = 1;
    for (std::uint32_t i = 0; i < runs; ++i)
      list->run[i] = {r + static_cast<slot>(i) * ranks, 1};
    list->first = list->run[runs - 1].end();
    made_up += now_us() - before;
    mine.receive(*list);
  }
  const double took = now_us() - start - made_up;
  if (!p.done.load() || p.result != taking::ok)
    std::abort();
  mine.close();
  store.close();
  return took;
}

} // namespace

int main() {
  for (const int ranks : {2, 4, 8, 64, 1024, 16384}) {
    std::vector<double> us;
    post sent;
    for (int i = 0; i < repeats; ++i) {
      sent = post{};
      us.push_back(one_negotiation(ranks, sent));
    }
    std::sort(us.begin(), us.end());
    std::printf("{\"ranks\": %d, \"compute_us\": %.1f, \"q1_us\": %.1f, \"q3_us\": %.1f, \"runs\": %ld, "
                "\"sent\": %ld, \"list_bytes\": %zu}\n",
                ranks, us[repeats / 2], us[repeats / 4], us[repeats * 3 / 4],
                static_cast<long>(sent.asked_room), sent.messages,
                message_bytes(static_cast<std::size_t>(sent.asked_room)));
  }
}
