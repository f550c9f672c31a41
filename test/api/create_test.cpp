// Every form of nth_create: each count of arguments with values checked, and several successors.
#include "../support/runtime.hpp"
#include "create_variadic.h"

#include <climits>
#include <utility>
#include <vector>

using namespace nth::test;

namespace {

std::vector<long> seen;

template <std::size_t>
using word = long;
template <std::size_t... I>
void take(word<I>... words) {
  seen = {words...};
}

template <std::size_t... I>
auto root_of(std::index_sequence<I...>) {
  return &take<I...>;
}
template <std::size_t... I>
nth_desc *create_by_overload(nth_desc *succ, const long *words, std::index_sequence<I...>) {
  return nth_create(&take<I...>, 0, 1, static_cast<int>(sizeof...(I)), succ, words[I]...);
}
template <std::size_t... I>
nth_desc *create_ls_by_overload(nth_desc *succ, const long *words, std::index_sequence<I...>) {
  return nth_create_ls(&take<I...>, 0, succ, static_cast<int>(sizeof...(I)), words[I]...);
}

// A word that has bits everywhere, another for each place and count.
long word_at(std::size_t count, std::size_t place) {
  return static_cast<long>(0x9e3779b97f4a7c15u * (count * 64 + place + 1));
}

class forms : public testing::TestWithParam<nth_policy> {};

template <std::size_t N>
void check_count() {
  SCOPED_TRACE(N);
  std::vector<long> words;
  for (std::size_t i = 0; i < N; ++i)
    words.push_back(word_at(N, i));
  words.reserve(1); // data() of none must not be null here
  using indices = std::make_index_sequence<N>;
  void (*const root)() = reinterpret_cast<void (*)()>(root_of(indices()));
  const int narg = N;
  run([&] {
    nth_desc *const self = nth_self();
    for (int form = 0; form < 4; ++form) {
      seen.assign(1, 12345);
      nth_depadd(self, 2);
      nth_desc *thread = form == 0   ? nth_create_v(root, 0, 1, &self, narg, words.data())
                         : form == 1 ? nth_create_ls_v(root, 0, self, narg, words.data())
                         : form == 2 ? create_by_overload(self, words.data(), indices())
                                     : create_ls_by_overload(self, words.data(), indices());
      ASSERT_NE(thread, nullptr) << "form " << form;
      nth_to_lrq(nth_worker(), thread);
      nth_block();
      EXPECT_EQ(seen, words) << "form " << form;
    }
  });
}

template <std::size_t... N>
void check_counts(std::index_sequence<N...>) {
  (check_count<N>(), ...);
}

TEST_P(forms, take_every_count_of_arguments) {
  const watchdog guard;
  const runtime up(1, GetParam());
  check_counts(std::make_index_sequence<NTH_MAX_ARGS + 1>());
}

TEST_P(forms, variable_arguments_of_c) {
  const watchdog guard;
  const runtime up(1, GetParam());
  run([] {
    nth_desc *const self = nth_self();
    for (int which = 0; which < CREATE_COUNTS; ++which)
      for (const long base : {0L, LONG_MIN, LONG_MAX - NTH_MAX_ARGS, -1L})
        for (auto *create : {create_with, create_ls_with}) {
          create_seen_count = -1;
          nth_depadd(self, 2);
          nth_to_lrq(nth_worker(), create(which, self, base));
          nth_block();
          ASSERT_EQ(create_seen_count, create_counts[which]);
          for (int i = 0; i < create_seen_count; ++i)
            ASSERT_EQ(create_seen[i], base + i);
        }
  });
}

TEST_P(forms, lower_each_successor_once) {
  const watchdog guard;
  const runtime up(2, GetParam());
  for (const int width : {1, 2, 3, 7, 8, 9, 63, NTH_MAX_SUCCESSORS})
    run([width] {
      std::vector<int> runs(static_cast<size_t>(width));
      std::vector<nth_desc *> successors;
      nth_depadd(nth_self(), width + 1);
      for (int i = 0; i < width; ++i)
        successors.push_back(nth_create_ls(
            +[](int *count) { ++*count; }, 1, nth_self(), 1, &runs[i]));
      const long words[] = {5, 6};
      void (*const root)() = reinterpret_cast<void (*)()>(+[](long, long) {});
      nth_to_lrq(nth_worker(), nth_create_v(root, 0, width, successors.data(), 2, words));
      nth_block();
      EXPECT_EQ(runs, std::vector<int>(static_cast<size_t>(width), 1));
    });
}

TEST_P(forms, most_successors_with_most_arguments) {
  const watchdog guard;
  const runtime up(2, GetParam());
  run([] {
    long words[NTH_MAX_ARGS];
    for (int i = 0; i < NTH_MAX_ARGS; ++i)
      words[i] = word_at(NTH_MAX_ARGS, static_cast<size_t>(i));
    int runs = 0;
    nth_depadd(nth_self(), 2);
    // One successor that is named 64 times waits for 64 ends.
    nth_desc *last = nth_create_ls(
        +[](int *count) { ++*count; }, NTH_MAX_SUCCESSORS, nth_self(), 1, &runs);
    const std::vector<nth_desc *> successors(NTH_MAX_SUCCESSORS, last);
    void (*const root)() = reinterpret_cast<void (*)()>(root_of(std::make_index_sequence<NTH_MAX_ARGS>()));
    nth_to_lrq(nth_worker(),
               nth_create_v(root, 0, NTH_MAX_SUCCESSORS, successors.data(), NTH_MAX_ARGS, words));
    nth_block();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(seen, std::vector<long>(words, words + NTH_MAX_ARGS));
  });
}

TEST_P(forms, several_successors_by_variable_arguments) {
  const watchdog guard;
  const runtime up(2, GetParam());
  run([] {
    int runs[3] = {};
    nth_desc *successors[3];
    nth_depadd(nth_self(), 4);
    for (int i = 0; i < 3; ++i)
      successors[i] = nth_create_ls(
          +[](int *count) { ++*count; }, 1, nth_self(), 1, &runs[i]);
    nth_to_lrq(nth_worker(), create_with_three_successors(successors[0], successors[1], successors[2]));
    nth_block();
    EXPECT_EQ(runs[0] + 10 * runs[1] + 100 * runs[2], 111);
    EXPECT_EQ(create_seen[0], 70);
    EXPECT_EQ(create_seen[1], -71);
  });
}

INSTANTIATE_TEST_SUITE_P(policies, forms, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
