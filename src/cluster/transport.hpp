// What the ranks of a run say to each other, and by which means: MPI, here alone (transport_mpi.cpp). MPI may be called
// by one kernel thread at a time: all but start and stop is called with the lock of progress.hpp held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::detail::cluster {

// Who is to read a message.
enum class channel : std::uint8_t { slots, print, printed, pieces, count };

struct envelope {
  channel to;
  int from;
  std::size_t bytes;
  const void *data; // until the next receive()
};

namespace transport {

// MPI is started unless it has been. False: it cannot be; `why` says it. True with `why`: this rank may not go on, but
// may tell the others.
bool start(int *argc, char ***argv, const char *&why) noexcept;
void stop() noexcept; // ends MPI too, if start() has started it
int rank() noexcept;
int ranks() noexcept;

// ---- All ranks call these, in the same order, and wait ----

void gather(const void *mine, std::size_t bytes, void *all) noexcept; // to rank 0; `all` is used there alone
void broadcast(void *what, std::size_t bytes) noexcept;               // from rank 0
std::int64_t minimum(std::int64_t mine) noexcept;
std::int64_t maximum(std::int64_t mine) noexcept;

// The sum of `mine` over all ranks on this host that have the same bytes, and over those with a lower number.
struct share {
  long all;
  long before;
};
share share_host(const void *what, std::size_t bytes, long mine) noexcept;

// ---- Any of them, any time ----

// The bytes are the caller's again when it returns. Messages of one sender to one receiver keep their order.
// Ends the program when there is no memory for a message.
void send(int to, channel on, const void *data, std::size_t bytes) noexcept;
bool receive(envelope &next) noexcept; // false: nothing has arrived
// Lets go of messages that have left; how many have not. Done by receive, too.
long unsent() noexcept;

void begin_barrier() noexcept;
bool barrier_done() noexcept;

struct numbers {
  long sent;
  long sent_bytes;
  long received;
};
numbers count() noexcept;
// All ranks call it: how many messages the others have sent to this rank since start().
long addressed_here() noexcept;

} // namespace transport
} // namespace nth::detail::cluster
