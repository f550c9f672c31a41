// Options by struct and by environment: each is honoured, and each wrong value is named.
#include "../support/message.hpp"
#include "../support/runtime.hpp"

#include <cstdlib>
#include <sched.h>
#include <string>
#include <unistd.h>

using namespace nth::test;

namespace {

class environment {
public:
  environment(const char *variable, const char *value) : name(variable) {
    const char *old = std::getenv(name);
    had = old != nullptr;
    before = had ? old : "";
    setenv(name, value, 1);
  }
  ~environment() { had ? setenv(name, before.c_str(), 1) : unsetenv(name); }
  environment(const environment &) = delete;
  environment &operator=(const environment &) = delete;

private:
  const char *name;
  bool had;
  std::string before;
};

struct row {
  const char *name; // environment variable; the message may name the field instead, in lower case
  long nth_options::*field;
  const char *good_text;
  long good;
  const char *wrong_text;
  long wrong;
  long much;
};

void PrintTo(const row &one, std::ostream *out) { *out << one.name; }

// The field's name: the part after NTH_.
const char *word_of(const row &one) { return one.name + 4; }

class each_option : public testing::TestWithParam<row> {};

TEST_P(each_option, is_read_from_the_environment) {
  const row &one = GetParam();
  const environment set(one.name, one.good_text);
  nth_options options;
  EXPECT_EQ(nth_options_init(&options), NTH_OK) << nth_last_error();
  EXPECT_EQ(options.*one.field, one.good);
}

TEST_P(each_option, keeps_its_default_when_the_environment_is_wrong) {
  const row &one = GetParam();
  unsetenv(one.name);
  nth_options defaults, options;
  ASSERT_EQ(nth_options_init(&defaults), NTH_OK) << nth_last_error();
  for (const char *text : {one.wrong_text, "1x", "99999999999999999999999"}) {
    const environment set(one.name, text);
    EXPECT_EQ(nth_options_init(&options), NTH_EINVAL) << one.name << "=\"" << text << '"';
    EXPECT_THAT_NAMES(nth_last_error(), one.name);
    EXPECT_EQ(options.*one.field, defaults.*one.field);
    EXPECT_EQ(nth_init(nullptr), NTH_EINVAL);
    EXPECT_EQ(nth_workers(), 0);
  }
}

TEST_P(each_option, is_checked_at_the_start) {
  const row &one = GetParam();
  for (const long value : {one.wrong, one.much}) {
    nth_options wrong = options(1);
    wrong.*one.field = value;
    EXPECT_EQ(nth_init(&wrong), NTH_EINVAL) << one.name << '=' << value;
    EXPECT_THAT_NAMES(nth_last_error(), word_of(one));
    EXPECT_EQ(nth_workers(), 0);
  }
  const runtime right(1);
}

constexpr row rows[] = {
    {"NTH_WORKERS", &nth_options::workers, "3", 3, "several", -1, NTH_MAX_WORKERS + 1},
    {"NTH_STACK_SIZE", &nth_options::stack_size, "32K", 32768, "big", 65535, -65536},
    {"NTH_STACK_POLICY", &nth_options::stack_policy, "lsa", NTH_POLICY_LSA, "lazy", -1, 3},
    {"NTH_BIND", &nth_options::bind, "1", 1, "maybe", -1, 2},
    {"NTH_BACKLOG", &nth_options::backlog, "100", 100, "long", -1, -1000},
    {"NTH_SPIN_US", &nth_options::spin_us, "7", 7, "brief", -1, -1000},
    {"NTH_GUARD", &nth_options::guard, "0", 0, "some", -1, 2},
    {"NTH_REPORT_DEADLOCK", &nth_options::report_deadlock, "1", 1, "quietly", -1, 2},
    {"NTH_STACK_STRICT", &nth_options::stack_strict, "1", 1, "much", -1, 3},
    {"NTH_STACK_MOST", &nth_options::stack_most, "4M", 4L << 20, "all", 3L << 20, -1},
    {"NTH_AREA_SIZE", &nth_options::area_size, "64G", 64L << 30, "huge", 3L << 30, -1},
};

INSTANTIATE_TEST_SUITE_P(options, each_option, testing::ValuesIn(rows),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(options, policies_by_name) {
  for (const nth_policy policy : all_policies) {
    const environment set("NTH_STACK_POLICY", name_of(policy));
    nth_options options;
    EXPECT_EQ(nth_options_init(&options), NTH_OK) << nth_last_error();
    EXPECT_EQ(options.stack_policy, policy);
  }
}

TEST(options, null_stands_for_the_environment) {
  const environment workers("NTH_WORKERS", "3");
  const environment policy("NTH_STACK_POLICY", "dos");
  const environment size("NTH_STACK_SIZE", "32768");
  ASSERT_EQ(nth_init(nullptr), NTH_OK) << nth_last_error();
  EXPECT_EQ(nth_workers(), 3);
  EXPECT_EQ(nth_stack_policy(), NTH_POLICY_DOS);
  EXPECT_EQ(counters().stack_bytes, 32768);
  EXPECT_EQ(nth_finalize(), NTH_OK);
}

TEST(options, by_struct) {
  for (const nth_policy policy : all_policies)
    for (const long size : {16L << 10, 64L << 10, 1L << 20}) {
      nth_options chosen = options(2, policy);
      chosen.stack_size = size;
      const runtime up(chosen);
      EXPECT_EQ(nth_stack_policy(), policy);
      EXPECT_EQ(counters().stack_bytes, size);
      EXPECT_EQ(counters().descriptor_bytes, 64);
    }
}

TEST(options, no_workers_given_is_one_a_core) {
  nth_options chosen = options(0);
  const runtime up(chosen);
  EXPECT_GE(nth_workers(), 1);
  EXPECT_LE(nth_workers(), sysconf(_SC_NPROCESSORS_ONLN));
}

// ---- Placement: judged by nth_init, for it takes the machine to know what is right -----------------------

TEST(placement, words_and_lists_are_accepted) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  std::size_t own = 0;
  while (!CPU_ISSET(own, &mask))
    ++own;
  const std::string list = std::to_string(own);
  for (const char *text : {"", "cores", "compact", "scatter", list.c_str()})
    for (const long bind : {0, 1}) {
      const environment set("NTH_PLACEMENT", text);
      nth_options chosen = options(2);
      chosen.bind = bind;
      EXPECT_STREQ(chosen.placement, text);
      const runtime up(chosen);
      EXPECT_EQ(nth_workers(), 2);
    }
  const environment set("NTH_PLACEMENT", list.c_str());
  nth_options chosen = options(0);
  const runtime up(chosen);
  EXPECT_EQ(nth_workers(), 1) << "one a CPU of the list";
}

TEST(placement, what_is_wrong_is_named) {
  nth_options wrong = options(1);
  for (const char *text : {"Scatter", "0,x", "0,,0", "node:4096", "1048576", "0-1-2"}) {
    wrong.placement = text;
    EXPECT_EQ(nth_init(&wrong), NTH_EINVAL) << text;
    EXPECT_EQ(std::string(nth_last_error()).rfind("NTH_PLACEMENT: ", 0), 0U) << nth_last_error();
    EXPECT_EQ(nth_workers(), 0);
    const environment set("NTH_PLACEMENT", text);
    EXPECT_EQ(nth_init(nullptr), NTH_EINVAL) << text;
  }
  wrong.placement = nullptr;
  const runtime right(wrong);
}

TEST(options, print_names_each) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  nth_options_print(ends[1]);
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  for (const row &one : rows)
    EXPECT_NE(text.find(one.name), std::string::npos) << one.name;
  EXPECT_NE(text.find("NTH_PLACEMENT"), std::string::npos);
}

} // namespace
