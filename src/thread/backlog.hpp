// The bound on waiting threads (NTH_BACKLOG), in closed blocks. A worker that puts a thread counts the blocks
// that wait in its own rings, and those that it has sent to other workers and that wait there
// (`worker::away`). The bound is looked at once a block, by explicit puts of threads alone.
#pragma once

#include "thread/ready.hpp"
#include "thread/runtime.hpp"

namespace nth::detail {

// The window that is about to be filled brings the blocks counted by w to the bound. [private part]
bool over_backlog_slow(worker *w) noexcept;
inline bool over_backlog(worker *w) noexcept {
  return the_runtime.backlog_blocks != 0 && over_backlog_slow(w);
}

// A window that is full. One that holds few threads does not count: its block will be closed as it is, and a
// creator beneath so few would be suspended often.
template <queue_end End>
bool holds_many(const worker *w) noexcept {
  constexpr std::uint32_t few = block_size / 2;
  return End == queue_end::front ? w->own.front.hi >= few : w->own.back.lo <= few;
}

// The push that comes fills the window.
template <queue_end End>
bool fills_window(const worker *w) noexcept {
  return (End == queue_end::front ? w->own.front.lo == 1 : w->own.back.hi == block_size - 1) &&
         holds_many<End>(w);
}

// A put to worker `to` that joins the own queue instead: w is over the bound, and blocks wait at `to`
// already. Decided when the window for `to` would be opened, for as many puts as it has room for.
// [private part]
bool diverts_slow(worker *w, int to, long n) noexcept;
inline bool diverts(worker *w, int to, long n = 1) noexcept {
  return the_runtime.backlog_blocks != 0 && w->own.outgoing[to].b == nullptr && diverts_slow(w, to, n);
}

// For a creator that has put a batch and has made way already: whether blocks wait here still, as many as the bound
// or more. If so, the next of them has become the front window, for the creator to make way for. Private part not
// entered.
bool backlog_is_left(worker *w) noexcept;

} // namespace nth::detail
