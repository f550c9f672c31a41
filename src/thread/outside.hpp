// Kernel threads that are no workers: they create threads, enqueue them, and wait. All of it goes through
// the run-time's last worker, which has a lock and no kernel thread of its own.
#pragma once

#include "thread/create.hpp"
#include "thread/runtime.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

// Holds the lock of the outside worker.
class outside_scope {
public:
  outside_scope() noexcept { pthread_mutex_lock(&the_runtime.outside_lock); }
  ~outside_scope() noexcept { pthread_mutex_unlock(&the_runtime.outside_lock); }
  outside_scope(const outside_scope &) = delete;
  outside_scope &operator=(const outside_scope &) = delete;
  worker *operator->() const noexcept { return the_runtime.outside(); }
  worker *get() const noexcept { return the_runtime.outside(); }
};

block *take_block_outside() noexcept;
void give_block_outside(block *b) noexcept;
// Sends d, alone in block b, to a worker; its state is set already.
void send_outside(int which, nth_desc *d, block *b, queue_end end) noexcept;

nth_desc *make_outside_desc() noexcept; // stands for a kernel thread; nullptr: no memory
void drop_outside_desc(nth_desc *d) noexcept;
void wait_outside(nth_desc *d) noexcept; // until make_ready was called for d
inline constexpr char nothing_to_block_on[] = "the caller is no nano-thread, and a kernel thread has nothing "
                                              "to block on before nth_attach has given it a "
                                              "descriptor";
void block_outside() noexcept; // nth_block of an attached kernel thread

nth_desc *attached() noexcept; // what nth_attach gave the caller; null: nothing
void set_attached(nth_desc *d) noexcept;

} // namespace nth::detail
