// The run-time for the length of a scope, and callables as threads.
#pragma once

#include "nth/nth.h"
#include "watchdog.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <string>
#include <type_traits>

namespace nth::test {

// Defaults and environment, then what a test fixes. The backlog is off, so that a creator runs on until
// it suspends itself.
inline nth_options options(long workers, nth_policy policy = NTH_POLICY_DSR) {
  nth_options result;
  EXPECT_EQ(nth_options_init(&result), NTH_OK) << nth_last_error();
  result.workers = workers;
  result.stack_policy = policy;
  result.backlog = 0;
  return result;
}

class runtime {
public:
  explicit runtime(long workers, nth_policy policy = NTH_POLICY_DSR) : runtime(options(workers, policy)) {}
  explicit runtime(const nth_options &options) : status(nth_init(&options)) {
    EXPECT_EQ(status, NTH_OK) << nth_last_error();
  }
  ~runtime() {
    if (status == NTH_OK) {
      EXPECT_EQ(nth_finalize(), NTH_OK) << nth_last_error();
    }
  }
  runtime(const runtime &) = delete;
  runtime &operator=(const runtime &) = delete;

private:
  nth_status status;
};

template <class F>
void call(F *body) {
  (*body)();
}

// Runs body() as a thread; returns when it has ended. For kernel threads outside.
template <class F>
void run(F &&body) {
  EXPECT_EQ(nth_run(&call<std::remove_reference_t<F>>, 1, &body), NTH_OK) << nth_last_error();
}

// Makes a thread of body(), which must live until the thread has ended.
template <class F>
nth_desc *create(F &body, nth_desc *successor = nullptr, int dependencies = 0) {
  nth_desc *thread = nth_create_ls(&call<F>, dependencies, successor, 1, &body);
  EXPECT_NE(thread, nullptr);
  return thread;
}

inline nth_counters counters() {
  nth_counters result = {};
  EXPECT_EQ(nth_get_counters(&result), NTH_OK) << nth_last_error();
  return result;
}

inline const char *name_of(nth_policy policy) {
  return policy == NTH_POLICY_DSR ? "dsr" : policy == NTH_POLICY_LSA ? "lsa" : "dos";
}

constexpr nth_policy all_policies[] = {NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS};

// Spins without giving the worker away: what makes a thread long.
template <class Condition>
void spin_until(Condition condition) {
  while (!condition())
    sched_yield(); // the kernel may have fewer cores than there are workers
}

} // namespace nth::test
