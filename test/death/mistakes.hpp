// The table of user mistakes that misuse_test.cpp goes through.
#pragma once

#include "nth/nth.h"

#include "../support/runtime.hpp"

#include <ostream>
#include <vector>

namespace nth::test {

// `make` starts the run-time, makes the mistake once, goes on as if the call had not been made, and checks
// that nothing was lost.
struct mistake {
  const char *name;
  void (*make)();
  nth_status status;
  std::vector<const char *> words; // which the message must have; "a|b": one of them
};

// body(runs) in a thread of the only worker: what it enqueues and waits for must count up `runs` to `expected`.
template <class F>
void expect_runs(long expected, F body) {
  const watchdog guard;
  const runtime up(1);
  long runs = 0;
  run([&] { body(&runs); });
  EXPECT_EQ(runs, expected);
}

inline void PrintTo(const mistake &one, std::ostream *out) { *out << one.name; }

extern const std::vector<mistake> creation_mistakes; // mistakes_creation.cpp
extern const std::vector<mistake> queue_mistakes;    // mistakes_queue.cpp
extern const std::vector<mistake> batch_mistakes;    // mistakes_batch.cpp

} // namespace nth::test
