// What a call through a stub passes on the stack, both ways.
#include "on_segments.hpp"

#include <csetjmp>
#include <memory>
#include <string>
#include <vector>

using namespace nth::test;

namespace {

struct weights {
  long (*function)(long n, ...);
  long words[70];
  long wrong = 0;
  explicit weights(long (*f)(long n, ...)) : function(f) {
    for (long i = 0; i < 70; ++i)
      words[i] = (i + 1) * 0x1'0001;
  }
  long expected(long n) const {
    long sum = 0;
    for (long i = 0; i < n; ++i)
      sum += (i + 1) * words[i];
    return sum;
  }
};

void weigh_all(weights *w) {
  for (long n = 0; n <= 69; ++n)
    w->wrong += call_words(w->function, n, w->words) != w->expected(n);
}

TEST(arguments, of_0_to_64_stack_words) {
  weights direct(stub_weigh);
  on_segments(1000, weigh_all, &direct);
  EXPECT_EQ(direct.wrong, 0);
}

TEST(arguments, of_a_call_through_a_pointer_are_found_by_its_site) {
  weights entry(stub_weigh_entry);
  on_segments(1000, weigh_all, &entry);
  EXPECT_EQ(entry.wrong, 0);
}

TEST(arguments, of_an_unknown_caller_are_copied_all_the_same) {
  struct {
    long wrong = 0;
  } r;
  on_segments(
      900,
      +[](decltype(r) *to) {
        long (*volatile through)(long n, ...) = stub_weigh_entry;
        to->wrong += through(12L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L) != 650;
      },
      &r);
  EXPECT_EQ(r.wrong, 0);
}

struct pages {
  page_of_longs in, out;
};

TEST(arguments, a_struct_of_a_page_by_value_and_back) {
  const auto p = std::make_unique<pages>();
  for (long i = 0; i < 512; ++i)
    p->in.word[i] = i * i;
  on_segments(
      13'000, +[](pages *both) { both->out = stub_page(both->in); }, p.get());
  for (long i = 0; i < 512; ++i)
    ASSERT_EQ(p->out.word[i], 3 * i * i + i);
}

TEST(arguments, long_double_on_the_stack_and_back) {
  long double sum = 0;
  on_segments(
      550, +[](long double *to) { *to = stub_wide(1, 2, 3, 4, 5, 6, 7, 8, 9); }, &sum);
  EXPECT_EQ(static_cast<double>(sum), 285);
}

// What lies far above the return address of a call whose site is known goes along, all of it.
struct far_words {
  long wrong = 0;
};
void read_far(far_words *w) {
  for (const long n : {0L, 1L, 511L, 1000L, 1998L, 1999L})
    w->wrong += call_far(stub_far, n) != 3 * n;
}

TEST(arguments, are_never_cut) {
  far_words w;
  on_segments(20'000, read_far, &w);
  EXPECT_EQ(w.wrong, 0);
}

jmp_buf out;
std::string told;

// On a stack of the default class that has no class above it: an error, and no call with some of the arguments.
TEST(arguments, that_no_segment_has_room_for_are_an_error) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    nth_options chosen = options(1, policy);
    chosen.stack_size = 32 << 10;
    const runtime up(chosen);
    nth_error_handler before = nth_set_error_handler([](nth_status, const char *message) {
      told = message;
      stub_longjmp(out, 1);
    });
    told.clear();
    run([] {
      call_with_room(
          20'000,
          +[](long *) {
            if (setjmp(out) == 0)
              call_far(stub_far, 1999);
          },
          static_cast<long *>(nullptr));
    });
    nth_set_error_handler(before);
    for (const char *word : {"no segment", "far", "24064 bytes", "NTH_STACK_SIZE"})
      EXPECT_NE(told.find(word), std::string::npos) << word << " in: " << told;
    expect_no_segments(1);
  }
}

} // namespace
