// What slots cost that a rank must buy, beside a round trip of MPI in the same run: from one rank (one round trip), and
// by the system-wide way of paper 004, section 4.4. Rank 0 buys, the others wait in a barrier, or, with "idle", sleep as
// idle ranks do. One line of JSON.
//   purchase one | wide [idle]
// For "one" the area is partitioned, and rank 0 has taken its part; for "wide" it is cyclic, so no rank has two slots
// side by side. run.py sets NTH_SLOT_DISTRIBUTION, NTH_SLOT_PREBUY=0 and NTH_ISO_SIZE.
#include "cluster/purchases.hpp"
#include "iso/slots.hpp"
#include "nth/cluster.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <unistd.h>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace {

using nth::detail::iso::slot;
using nth::detail::iso::taking;

constexpr int rounds = 2000;
std::vector<double> samples;

double now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

double at(std::vector<double> &sorted, double part) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * part)];
}

// Rank 0 and rank 1, 64 bytes there and back: before nth is started, so nothing else moves.
std::vector<double> round_trips(int rank) {
  std::vector<double> us;
  char bytes[64] = {};
  for (int i = 0; i < rounds; ++i) {
    const double start = now_us();
    if (rank == 0) {
      MPI_Send(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      us.push_back(now_us() - start);
    } else if (rank == 1) {
      MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  std::sort(us.begin(), us.end());
  return us;
}

// One way, many after each other: what a message costs its sender, and its receiver, as cluster/transport_mpi sends and
// receives it. Rank 0 sends, rank 1 tells it what receiving took.
struct flood {
  double send_us;
  double receive_us;
};
flood one_way(int rank, int bytes) {
  constexpr int count = 5000;
  std::vector<char> data(static_cast<std::size_t>(bytes));
  flood f{};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_us();
  if (rank == 0) {
    for (int i = 0; i < count; ++i) {
      MPI_Request request;
      MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    f.send_us = (now_us() - start) / count;
    MPI_Recv(&f.receive_us, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    double first = 0;
    for (int i = 0; i < count;) {
      int any = 0;
      MPI_Message message;
      MPI_Status status;
      MPI_Improbe(0, 1, MPI_COMM_WORLD, &any, &message, &status);
      if (any == 0)
        continue;
      if (i++ == 0)
        first = now_us();
      MPI_Mrecv(data.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    }
    f.receive_us = (now_us() - first) / (count - 1);
    MPI_Send(&f.receive_us, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
  }
  return f;
}

void buy(long count) {
  slot first = 0;
  for (int i = 0; i < rounds; ++i) {
    const double start = now_us();
    if (nth::detail::iso::obtain(count, true, first) != taking::ok)
      break; // the others have none left
    samples.push_back(now_us() - start);
  }
}

void take_all_own() {
  slot first = 0;
  while (nth::detail::iso::the_slots.take(1, first) == taking::ok) {
  }
}

} // namespace

int main(int argc, char **argv) {
  int level = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> trips = round_trips(rank);
  const flood small = one_way(rank, 40), large = one_way(rank, 1080);
  if (nth_cluster_init(&argc, &argv, nullptr) != NTH_OK) {
    std::fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  const bool one = argc > 1 && std::strcmp(argv[1], "one") == 0;
  const bool idle = argc > 2;
  if (rank == 0) {
    if (one)
      take_all_own();
    if (nth_run(reinterpret_cast<void (*)()>(buy), 1, one ? 4L : 2L) != NTH_OK)
      return 1;
    nth_cluster_stats s;
    if (samples.empty() || nth_get_cluster_stats(&s) != NTH_OK)
      return 1;
    std::sort(samples.begin(), samples.end());
    const auto n = nth::detail::cluster::count_purchases();
    std::printf(
        "{\"ranks\": %d, \"purchases\": %zu, \"from_one\": %ld, \"system_wide\": %ld, \"trip_us\": %.3f, "
        "\"trip_q1\": %.3f, \"trip_q3\": %.3f, \"us\": %.3f, \"q1_us\": %.3f, \"q3_us\": %.3f, "
        "\"sent\": %ld, \"sent_bytes\": %ld, \"send_us\": %.3f, \"receive_us\": %.3f}\n",
        nth_ranks(), samples.size(), n.from_one, n.system_wide, at(trips, 0.5), at(trips, 0.25),
        at(trips, 0.75), at(samples, 0.5), at(samples, 0.25), at(samples, 0.75), s.messages, s.message_bytes,
        small.send_us, large.receive_us);
  } else if (idle) {
    sleep(3);
  }
  if (nth_cluster_barrier() != NTH_OK)
    return 1;
  if (rank != 0) {
    nth_cluster_stats s;
    if (nth_get_cluster_stats(&s) != NTH_OK)
      return 1;
    std::printf("{\"rank\": %d, \"sent\": %ld, \"sent_bytes\": %ld, \"polls\": %ld}\n", rank, s.messages,
                s.message_bytes, s.polls);
  }
  if (nth_cluster_finalize() != NTH_OK)
    return 1;
  return MPI_Finalize();
}
