// nth_get_stats, and the same as JSON.
#include "../support/runtime.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

using namespace nth::test;

namespace {

nth_stats stats() {
  nth_stats s;
  EXPECT_EQ(nth_get_stats(&s), NTH_OK) << nth_last_error();
  return s;
}

void expect_sum(const nth_object_stats &s) {
  EXPECT_EQ(s.allocated, s.in_use + s.worker + s.node + s.global + s.under_way);
  EXPECT_GE(s.most, s.allocated);
}

bool at_rest(const nth_stats &s) {
  long idle = s.descriptors.under_way;
  for (const nth_object_stats &one : s.stacks)
    idle += one.under_way;
  return idle == 0 && s.descriptors.in_use == 0;
}

// What `write` writes to a file descriptor.
template <class F>
std::string written(F write) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  write(ends[1]);
  close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  return text;
}

std::string quoted(const char *name) {
  std::string result(1, '"');
  result += name;
  result += '"';
  return result;
}

long number(const std::string &json, const char *after, const char *name) {
  const std::size_t from = *after == 0 ? 0 : json.find(quoted(after));
  const std::size_t at = json.find(quoted(name), from);
  EXPECT_NE(at, std::string::npos) << name << " in " << json;
  return at == std::string::npos ? -1 : std::strtol(json.c_str() + at + std::strlen(name) + 4, nullptr, 10);
}

class statistics : public testing::TestWithParam<nth_policy> {};

TEST_P(statistics, add_up_at_rest) {
  const watchdog guard;
  const runtime up(2, GetParam());
  for (int round = 0; round < 5; ++round) {
    auto waits = [] { nth_yield(); };
    run([&] {
      nth_depadd(nth_self(), 3001);
      for (int i = 0; i < 3000; ++i)
        nth_to_lrq_end(i % 2, create(waits, nth_self()));
      nth_block();
    });
    // Both workers sleep soon; whoever ran last flushes what it has for the other before.
    nth_stats s = stats();
    spin_until([&] {
      s = stats();
      long sum = 0;
      for (const nth_object_stats &one : s.stacks)
        sum += one.allocated - one.in_use - one.worker - one.node - one.global - one.under_way;
      return at_rest(s) && sum == 0;
    });
    expect_sum(s.descriptors);
    for (const nth_object_stats &one : s.stacks)
      expect_sum(one);
    EXPECT_EQ(s.descriptors.bytes, 64);
    EXPECT_EQ(s.descriptors.most, s.counters.descriptors);
    EXPECT_EQ(s.nodes, 1);
    EXPECT_EQ(s.nodes_unbound, 0);
    for (int i = 0; i < NTH_STACK_CLASSES; ++i)
      EXPECT_EQ(s.stacks[i].bytes, 256L << i);
  }
}

INSTANTIATE_TEST_SUITE_P(policies, statistics, testing::ValuesIn(all_policies),
                         [](const auto &one) { return std::string(name_of(one.param)); });

TEST(statistics_as_json, say_the_same) {
  const watchdog guard;
  const runtime up(1);
  auto nothing = [] {};
  run([&] {
    nth_depadd(nth_self(), 101);
    for (int i = 0; i < 100; ++i)
      nth_to_lrq(0, create(nothing, nth_self()));
    nth_block();
  });
  nth_stats before = stats();
  std::string json;
  spin_until([&] {
    before = stats();
    json = written([](int fd) { nth_write_stats(fd); });
    return number(json, "", "sleeps") == before.counters.sleeps && at_rest(before);
  });
  EXPECT_EQ(json.back(), '\n');
  EXPECT_EQ(json.find('\n'), json.size() - 1) << "one line";
  EXPECT_EQ(number(json, "", "workers"), 1);
  EXPECT_EQ(number(json, "descriptors", "allocated"), before.descriptors.allocated);
  EXPECT_EQ(number(json, "descriptors", "worker"), before.descriptors.worker);
  EXPECT_EQ(number(json, "stacks", "bytes"), 65536) << "the first class that there is";
  EXPECT_EQ(number(json, "stacks", "allocated"), before.stacks[8].allocated);
  long depth = 0;
  for (const char c : json) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    EXPECT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
}

TEST(statistics_as_json, are_written_at_the_end_when_asked_for) {
  const watchdog guard;
  nth_options o = options(2);
  o.stats = 1;
  ASSERT_EQ(nth_init(&o), NTH_OK);
  const std::string json = written([](int fd) {
    const int standard_error = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    EXPECT_EQ(nth_finalize(), NTH_OK);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
  });
  EXPECT_EQ(number(json, "", "workers"), 2);
  EXPECT_EQ(number(json, "descriptors", "in_use"), 0);
  EXPECT_EQ(number(json, "stacks", "in_use"), 0) << "the workers have left their stacks";
}

TEST(statistics_of_no_run, are_refused) {
  nth_stats s;
  EXPECT_EQ(nth_get_stats(&s), NTH_ESTATE);
  EXPECT_EQ(nth_get_stats(nullptr), NTH_EINVAL);
  EXPECT_EQ(written([](int fd) { nth_write_stats(fd); }), "");
}

} // namespace
