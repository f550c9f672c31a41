// C++ exceptions inside threads, and across suspension: each thread has its own exceptions in flight.
#include "../support/runtime.hpp"

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

using namespace nth::test;

namespace {

// Thrown with the number of its thread, so that a mix-up shows.
struct failure : std::runtime_error {
  explicit failure(int thread) : std::runtime_error("failure " + std::to_string(thread)), number(thread) {}
  int number;
};

struct shape {
  nth_policy policy;
  int workers;
};
void PrintTo(const shape &one, std::ostream *out) { *out << name_of(one.policy) << one.workers; }

class exception : public testing::TestWithParam<shape> {
protected:
  const watchdog guard;
  const runtime up{GetParam().workers, GetParam().policy};
  std::atomic<int> ended = 0;

  // Runs body(0) … body(width - 1) as threads.
  template <class F>
  void run_many(int width, F body) {
    run([&] {
      const auto root = [](F *what, int number) { (*what)(number); };
      nth_depadd(nth_self(), width + 1);
      for (int i = 0; i < width; ++i)
        nth_to_lrq_end(i % kthreads, nth_create_ls(+root, 0, nth_self(), 2, &body, i));
      nth_block();
    });
    EXPECT_EQ(ended, width);
  }

  // Blocks the caller until a child has ended, so that others of the worker run in between.
  static void block(int how) {
    const auto nothing = [] {};
    nth_depadd(nth_self(), 2);
    nth_to_lrq_end(how % kthreads, nth_create_ls(+nothing, 0, nth_self(), 0));
    nth_block();
  }
};

constexpr int width = under_tsan ? 50 : 500;

TEST_P(exception, caught_where_it_was_thrown) {
  run_many(width, [&](int number) {
    try {
      throw failure(number);
    } catch (const failure &caught) {
      EXPECT_EQ(caught.number, number);
      ++ended;
    }
  });
}

[[gnu::noinline]] void fail_deep(int depth, int number) {
  if (depth == 0) {
    nth_yield();
    throw failure(number);
  }
  fail_deep(depth - 1, number);
  asm volatile("" ::: "memory"); // no tail call
}

TEST_P(exception, passes_frames_that_were_suspended) {
  run_many(width, [&](int number) {
    for (int i = 0; i < 10; ++i) {
      try {
        fail_deep(20, number);
        ADD_FAILURE() << "nothing thrown";
      } catch (const failure &caught) {
        EXPECT_EQ(caught.number, number);
      }
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      EXPECT_EQ(std::current_exception(), nullptr);
    }
    ++ended;
  });
}

TEST_P(exception, block_inside_a_handler) {
  run_many(width, [&](int number) {
    try {
      throw failure(number);
    } catch (...) {
      block(number);
      EXPECT_NE(std::current_exception(), nullptr);
      try {
        throw; // right after it goes on
      } catch (const failure &caught) {
        EXPECT_EQ(caught.number, number);
        nth_yield();
        EXPECT_EQ(caught.number, number);
      }
    }
    EXPECT_EQ(std::current_exception(), nullptr);
    ++ended;
  });
}

TEST_P(exception, rethrow_right_after_a_block) {
  run_many(width, [&](int number) {
    try {
      try {
        throw failure(number);
      } catch (const failure &) {
        block(number);
        throw;
      }
    } catch (const failure &caught) {
      EXPECT_EQ(caught.number, number);
      ++ended;
    }
  });
}

TEST_P(exception, current_one_is_that_of_the_thread) {
  run_many(width, [&](int number) {
    try {
      throw failure(number);
    } catch (const failure &) {
      for (int i = 0; i < 5; ++i) {
        i % 2 == 0 ? nth_yield() : block(number + i);
        try {
          std::rethrow_exception(std::current_exception());
        } catch (const failure &again) {
          EXPECT_EQ(again.number, number);
        }
      }
    }
    ++ended;
  });
}

// Handlers inside handlers, suspended at each depth; they unwind in order.
void nest(int depth, int number) {
  try {
    throw failure(number + depth);
  } catch (const failure &caught) {
    nth_yield();
    if (depth > 0)
      nest(depth - 1, number);
    nth_yield();
    EXPECT_EQ(caught.number, number + depth);
    try {
      throw;
    } catch (const failure &again) {
      EXPECT_EQ(again.number, number + depth);
    }
  }
}

TEST_P(exception, nested_handlers) {
  run_many(width / 5, [&](int number) {
    nest(10, 1000 * number);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
    ++ended;
  });
}

// A destructor that suspends while its frame is unwound.
struct suspends {
  int number;
  int in_flight;
  ~suspends() {
    EXPECT_EQ(std::uncaught_exceptions(), in_flight);
    nth_yield();
    EXPECT_EQ(std::uncaught_exceptions(), in_flight);
    nth_handle_t mine = nth_handle(nth_self());
    EXPECT_EQ(nth_unblock(mine), NTH_OK);
    nth_block();
    EXPECT_EQ(std::uncaught_exceptions(), in_flight);
  }
};

TEST_P(exception, suspended_while_unwinding) {
  run_many(width, [&](int number) {
    try {
      const suspends first{number, 1};
      const suspends second{number, 1};
      throw failure(number);
    } catch (const failure &caught) {
      EXPECT_EQ(caught.number, number);
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    ++ended;
  });
}

// Threads without an exception see none, whoever has one in flight on their worker.
TEST_P(exception, is_not_seen_by_others) {
  run_many(width, [&](int number) {
    if (number % 2 == 0) {
      try {
        const suspends during{number, 1};
        throw failure(number);
      } catch (const failure &) {
        nth_yield();
      }
    } else {
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        EXPECT_EQ(std::current_exception(), nullptr);
        nth_yield();
      }
    }
    ++ended;
  });
}

// A handler that is still open when another thread starts on the worker: a thread that never suspends.
TEST_P(exception, started_below_an_open_handler) {
  run([&] {
    try {
      throw failure(7);
    } catch (const failure &caught) {
      auto child = [&] {
        EXPECT_EQ(std::current_exception(), nullptr);
        try {
          throw failure(8);
        } catch (const failure &inner) {
          EXPECT_EQ(inner.number, 8);
        }
      };
      nth_depadd(nth_self(), 2);
      nth_to_lrq(nth_worker(), create(child, nth_self()));
      nth_block();
      EXPECT_EQ(caught.number, 7);
      try {
        throw;
      } catch (const failure &again) {
        EXPECT_EQ(again.number, 7);
      }
    }
  });
}

// One thread's exception caught there and rethrown by another, which joins it.
TEST_P(exception, carried_to_another_thread) {
  run([&] {
    for (int i = 0; i < 100; ++i) {
      std::exception_ptr carried;
      auto child = [&] {
        try {
          throw failure(i);
        } catch (...) {
          carried = std::current_exception();
        }
      };
      nth_depadd(nth_self(), 2);
      nth_to_lrq_end(i % kthreads, create(child, nth_self()));
      nth_block();
      try {
        std::rethrow_exception(carried);
      } catch (const failure &caught) {
        EXPECT_EQ(caught.number, i);
      }
    }
  });
}

std::vector<shape> shapes() {
  std::vector<shape> all;
  for (const nth_policy policy : all_policies)
    for (const int workers : {1, 2, 4})
      all.push_back({policy, workers});
  return all;
}
INSTANTIATE_TEST_SUITE_P(shapes, exception, testing::ValuesIn(shapes()), [](const auto &test) {
  return name_of(test.param.policy) + std::to_string(test.param.workers);
});

} // namespace
