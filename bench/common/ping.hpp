#ifndef NTH_BENCH_PING_HPP
#define NTH_BENCH_PING_HPP

namespace bench {

// Nanoseconds that a cache line takes from one core to the other: two pinned kernel threads hand it to
// and fro for some milliseconds; half the median of the rounds.
double one_way_ping(int core_a, int core_b);

} // namespace bench

#endif
