// Bodies that leave segments: by return, exceptions, longjmp.
#pragma once

#include "support.hpp"

namespace nth::test {

// body(argument) with `room` bytes, less than the stubs that it calls ask for: on a stack of 32 KiB of its own class, and
// on one of the default class.
template <class T>
void on_segments(long room, void (*body)(T *), T *argument) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    const runtime up(1, policy);
    struct {
      long room;
      void (*body)(T *);
      T *argument;
    } it{room, body, argument};
    const auto root = [](decltype(it) *e) { call_with_room(e->room, e->body, e->argument); };
    const long before = stats_now().segments_switched;
    run_small(room + 500, +root, &it);
    EXPECT_GT(stats_now().segments_switched, before) << "on a small stack";
    const long between = stats_now().segments_switched;
    run([&] { root(&it); });
    EXPECT_GT(stats_now().segments_switched, between) << "on a stack of the default class";
    expect_no_segments(1);
  }
}

// The limits are those of the stack that rsp is on, when a stub has asked again.
inline bool limits_are_right() {
  const std::uintptr_t sp = stub_here();
  const auto *limit = detail::current_worker()->limits;
  return detail::top_of(sp) == detail::top_of(here()) &&
         limit[0] == lowest_byte(detail::top_of(here())) + 512 - 8 &&
         detail::top_of(here())->above == nullptr;
}

// They are, or stubs always ask.
inline bool limits_fit() {
  const auto limit = detail::current_worker()->limits[0];
  return limit == detail::always_ask || limit == lowest_byte(detail::top_of(here())) + 512 - 8;
}

struct outcome {
  int levels = 1;
  long wrong = 0;
  long caught = 0;
};

} // namespace nth::test
