// Messages between ranks move on when somebody looks for them: idle workers, busy ones every so often (thread/ready),
// whoever waits for an answer, and with NTH_CLUSTER_THREAD a kernel thread of their own. One at a time: the others
// go on with their work.
#pragma once

#include "cluster/transport.hpp"

namespace nth::detail::cluster {

// Reads a message; called with the lock of progress held.
using reader = void (*)(const envelope &e) noexcept;
void set_reader(channel on, reader r) noexcept;

// False: no memory for the stack on which messages are read, or the kernel refused the thread.
bool open_progress(bool own_thread, std::uint64_t poll_ns) noexcept;
void close_progress() noexcept;

// Reads all that has arrived. True: something had.
bool progress() noexcept;

// f(context) with the lock held, on a stack with room for MPI.
void with_transport(void (*f)(void *context), void *context) noexcept;
template <class F>
void with_transport(F f) noexcept {
  with_transport([](void *g) { (*static_cast<F *>(g))(); }, &f);
}

// Reads messages until done(); other threads of this worker run meanwhile, where the caller may suspend.
template <class Done>
void wait_until(bool may_suspend, Done done) noexcept;
void wait_a_little(bool may_suspend, bool came) noexcept;

template <class Done>
void wait_until(bool may_suspend, Done done) noexcept {
  while (!done())
    wait_a_little(may_suspend, progress());
}

long polls() noexcept;

} // namespace nth::detail::cluster
