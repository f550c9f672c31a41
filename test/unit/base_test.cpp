// Messages, the error handler, and the table of options against the environment and doc/options.md.
#include "base/error.hpp"
#include "base/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

// Named for dladdr only where the program exports it, which no test may count on.
extern "C" [[gnu::noinline]] int nth_test_some_function(int n) { return n + 1; }

namespace nth::detail {
namespace {

// ---- Messages ------------------------------------------------------------------------------------

nth_status told_status;
std::string told_message;
void tell(nth_status status, const char *message) {
  told_status = status;
  told_message = message;
}

class with_handler : public testing::Test {
protected:
  void SetUp() override {
    told_message.clear();
    before = nth_set_error_handler(tell);
  }
  void TearDown() override { nth_set_error_handler(before); }
  nth_error_handler before = nullptr;
};
using error = with_handler;

TEST_F(error, fail_keeps_the_message_and_tells_nobody) {
  EXPECT_EQ(fail(NTH_ENOMEM, "no memory for %d %s", 3, "stacks"), NTH_ENOMEM);
  EXPECT_STREQ(nth_last_error(), "no memory for 3 stacks");
  EXPECT_EQ(told_message, "");
}

TEST_F(error, misuse_tells_the_handler_and_returns) {
  misuse(NTH_EINVAL, "worker %d is unknown", 7);
  EXPECT_EQ(told_status, NTH_EINVAL);
  EXPECT_EQ(told_message, "worker 7 is unknown");
  EXPECT_STREQ(nth_last_error(), "worker 7 is unknown");
}

TEST_F(error, handler_is_exchanged) {
  EXPECT_EQ(nth_set_error_handler(nullptr), &tell);
  EXPECT_EQ(nth_set_error_handler(tell), nullptr);
}

TEST_F(error, a_long_message_is_cut) {
  const std::string text(2000, 'x');
  EXPECT_EQ(fail(NTH_EINVAL, "%s", text.c_str()), NTH_EINVAL);
  EXPECT_EQ(std::string(nth_last_error()), std::string(511, 'x'));
}

TEST_F(error, the_last_message_may_be_an_argument) {
  EXPECT_EQ(fail(NTH_EINVAL, "inner"), NTH_EINVAL);
  EXPECT_EQ(fail(NTH_ESYS, "outer: %s", nth_last_error()), NTH_ESYS);
  EXPECT_STREQ(nth_last_error(), "outer: inner");
}

TEST_F(error, each_kernel_thread_has_its_own_message) {
  EXPECT_EQ(fail(NTH_EINVAL, "mine"), NTH_EINVAL);
  std::thread([] {
    EXPECT_STREQ(nth_last_error(), "");
    EXPECT_EQ(fail(NTH_EINVAL, "its"), NTH_EINVAL);
  }).join();
  EXPECT_STREQ(nth_last_error(), "mine");
}

TEST(error_death, default_handler_prints_and_aborts) {
  EXPECT_EXIT(misuse(NTH_EINVAL, "worker %d is unknown", 7), testing::KilledBySignal(SIGABRT),
              "^nth: worker 7 is unknown\n");
  EXPECT_EXIT(assertion_failed("a < b", "file.cpp", 12), testing::KilledBySignal(SIGABRT),
              "^nth: internal error: a < b \\(file.cpp:12\\)\n");
}

TEST(error_text, each_status_has_one) {
  std::string seen;
  for (int status = NTH_OK; status <= NTH_EDEADLOCK; ++status) {
    const std::string text = nth_strstatus(static_cast<nth_status>(status));
    EXPECT_NE(text, "unknown status");
    EXPECT_EQ(seen.find('[' + text + ']'), std::string::npos) << text;
    seen += '[' + text + ']';
  }
}

TEST(error_text, functions_are_described) {
  char text[200];
  // The C library exports its names.
  describe_function(reinterpret_cast<const void *>(&std::abort), text, sizeof text);
  EXPECT_EQ(std::string(text).substr(0, 5), "abort");
  // Ours is found by name, or as an offset into the program.
  describe_function(reinterpret_cast<const void *>(&nth_test_some_function), text, sizeof text);
  EXPECT_TRUE(std::strstr(text, "nth_test_some_function") != nullptr ||
              std::strstr(text, "base") != nullptr || std::strstr(text, "+0x") != nullptr)
      << text;
  int local = 0;
  describe_function(&local, text, sizeof text);
  EXPECT_EQ(std::string(text).substr(0, 2), "0x") << text;
  EXPECT_STREQ(describe_function(nullptr, text, sizeof text), "0x0");
  describe_function(reinterpret_cast<const void *>(&std::abort), text, 3);
  EXPECT_STREQ(text, "ab");
}

// ---- Options -------------------------------------------------------------------------------------

class clean_environment : public testing::Test {
protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    int count;
    const option_row *row = option_table(count);
    for (int i = 0; i < count; ++i)
      unsetenv(row[i].name);
  }
};
using options = clean_environment;

// The rows whose field is a long, and their number in `count`: all but the last two.
constexpr int text_rows = 2;
const option_row *number_rows(int &count) {
  const option_row *row = option_table(count);
  count -= text_rows;
  for (int i = 0; i < count; ++i)
    EXPECT_NE(row[i].kind, option_kind::text) << row[i].name;
  return row;
}

long read_one(const char *name, const char *text, long nth_options::*field, nth_status expected) {
  setenv(name, text, 1);
  nth_options read;
  EXPECT_EQ(nth_options_init(&read), expected) << name << '=' << text;
  unsetenv(name);
  return read.*field;
}

TEST_F(options, defaults_pass_the_check) {
  nth_options read;
  std::memset(&read, 0xff, sizeof read);
  ASSERT_EQ(nth_options_init(&read), NTH_OK);
  EXPECT_EQ(check_options(read), NTH_OK);
  int count;
  const option_row *row = number_rows(count);
  EXPECT_EQ(static_cast<std::size_t>(count) * sizeof(long) + text_rows * sizeof(char *), sizeof(nth_options))
      << "one row a field";
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(read.*row[i].field, row[i].standard) << row[i].name;
  for (int i = count; i < count + text_rows; ++i) {
    EXPECT_EQ(row[i].kind, option_kind::text) << row[i].name;
    EXPECT_EQ(read.*row[i].text_field, nullptr) << row[i].name;
  }
}

TEST_F(options, a_text_is_that_of_the_environment) {
  for (const char *text : {"", "scatter", "nowhere"}) {
    setenv("NTH_PLACEMENT", text, 1);
    nth_options read;
    EXPECT_EQ(nth_options_init(&read), NTH_OK) << text;
    EXPECT_EQ(read.placement, std::getenv("NTH_PLACEMENT"));
    EXPECT_EQ(check_options(read), NTH_OK) << "nth_init judges it";
  }
}

TEST_F(options, null_is_an_error) { EXPECT_EQ(nth_options_init(nullptr), NTH_EINVAL); }

TEST_F(options, good_texts) {
  EXPECT_EQ(read_one("NTH_WORKERS", "12", &nth_options::workers, NTH_OK), 12);
  EXPECT_EQ(read_one("NTH_WORKERS", "1024", &nth_options::workers, NTH_OK), 1024);
  EXPECT_EQ(read_one("NTH_STACK_SIZE", "16384", &nth_options::stack_size, NTH_OK), 16384);
  EXPECT_EQ(read_one("NTH_STACK_SIZE", "128k", &nth_options::stack_size, NTH_OK), 131072);
  EXPECT_EQ(read_one("NTH_STACK_SIZE", "1M", &nth_options::stack_size, NTH_OK), 1048576);
  EXPECT_EQ(read_one("NTH_AREA_SIZE", "64T", &nth_options::area_size, NTH_OK), 64L << 40);
  EXPECT_EQ(read_one("NTH_STACK_POLICY", "dos", &nth_options::stack_policy, NTH_OK), NTH_POLICY_DOS);
  EXPECT_EQ(read_one("NTH_BACKLOG", "1099511627776", &nth_options::backlog, NTH_OK), 1L << 40);
}

TEST_F(options, wrong_texts_are_named_and_the_default_stays) {
  struct wrong {
    const char *name;
    const char *text;
  };
  for (const wrong one : {wrong{"NTH_WORKERS", ""},
                          {"NTH_WORKERS", "-1"},
                          {"NTH_WORKERS", " 1"},
                          {"NTH_WORKERS", "1025"},
                          {"NTH_WORKERS", "1K"},
                          {"NTH_WORKERS", "0x10"},
                          {"NTH_WORKERS", "99999999999999999999"},
                          {"NTH_STACK_SIZE", "65537"},
                          {"NTH_STACK_SIZE", "8K"},
                          {"NTH_STACK_SIZE", "2M"},
                          {"NTH_STACK_SIZE", "64KB"},
                          {"NTH_STACK_SIZE", "9007199254740993K"},
                          {"NTH_AREA_SIZE", "8388608T"},
                          {"NTH_STACK_POLICY", "DSR"},
                          {"NTH_STACK_POLICY", "0"},
                          {"NTH_BIND", "yes"},
                          {"NTH_GUARD", "2"}}) {
    int count;
    const option_row *row = option_table(count);
    while (std::strcmp(row->name, one.name) != 0)
      ++row;
    EXPECT_EQ(read_one(one.name, one.text, row->field, NTH_EINVAL), row->standard);
    const std::string message = nth_last_error();
    char range[option_text_size];
    EXPECT_NE(message.find(one.name), std::string::npos) << message;
    EXPECT_NE(message.find('"' + std::string(one.text) + '"'), std::string::npos) << message;
    EXPECT_NE(message.find(option_range(*row, range)), std::string::npos) << message;
  }
}

TEST_F(options, one_wrong_text_spoils_no_other) {
  setenv("NTH_WORKERS", "many", 1);
  setenv("NTH_BIND", "many", 1);
  setenv("NTH_SPIN_US", "9", 1);
  nth_options read;
  EXPECT_EQ(nth_options_init(&read), NTH_EINVAL);
  EXPECT_EQ(read.spin_us, 9);
  EXPECT_EQ(read.bind, 1);
  EXPECT_NE(std::strstr(nth_last_error(), "NTH_WORKERS"), nullptr) << nth_last_error();
}

TEST_F(options, each_field_is_checked) {
  nth_options good;
  ASSERT_EQ(nth_options_init(&good), NTH_OK);
  int count;
  const option_row *row = number_rows(count);
  for (int i = 0; i < count; ++i) {
    for (long value : {row[i].lowest - 1, row[i].highest + 1}) {
      nth_options wrong = good;
      wrong.*row[i].field = value;
      EXPECT_EQ(check_options(wrong), NTH_EINVAL) << row[i].name;
      EXPECT_NE(std::strstr(nth_last_error(), row[i].name), nullptr) << nth_last_error();
    }
    for (long value : {row[i].lowest, row[i].highest}) {
      nth_options right = good;
      right.*row[i].field = value;
      EXPECT_EQ(check_options(right), NTH_OK) << nth_last_error();
    }
  }
  nth_options wrong = good;
  wrong.stack_size = 65537;
  EXPECT_EQ(check_options(wrong), NTH_EINVAL);
  EXPECT_STREQ(nth_last_error(), "nth_options.stack_size (NTH_STACK_SIZE) is 65537: accepted is 16K..1M, a "
                                 "power of two");
}

std::string source_file(const char *path) {
#ifdef NTH_SOURCE_DIR
  return std::string(NTH_SOURCE_DIR) + '/' + path;
#else
  const std::string here = __FILE__; // …/test/unit/base_test.cpp
  return here.substr(0, here.size() - std::strlen("test/unit/base_test.cpp")) + path;
#endif
}

TEST_F(options, documentation_has_each_row) {
  std::ifstream file(source_file("doc/options.md"));
  ASSERT_TRUE(file.is_open()) << source_file("doc/options.md");
  std::stringstream all;
  all << file.rdbuf();
  const std::string page = all.str();
  int count;
  const option_row *row = option_table(count);
  for (int i = 0; i < count; ++i) {
    char standard[option_text_size], range[option_text_size];
    const std::string line = std::string("| `") + row[i].name + "` | " +
                             option_value(row[i], row[i].standard, standard) + " | " +
                             option_range(row[i], range) + " | " + row[i].text + " |\n";
    EXPECT_NE(page.find(line), std::string::npos) << "doc/options.md lacks the line\n" << line;
  }
  int lines = 0;
  for (std::size_t at = 0; (at = page.find("\n| `NTH_", at)) != std::string::npos; ++at)
    ++lines;
  EXPECT_EQ(lines, count) << "doc/options.md has a row that the table lacks";
}

TEST_F(options, print_writes_a_line_a_row) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  nth_options_print(ends[1]);
  close(ends[1]);
  char text[8192];
  std::size_t length = 0;
  for (ssize_t n; (n = read(ends[0], text + length, sizeof text - length)) > 0;)
    length += static_cast<std::size_t>(n);
  close(ends[0]);
  std::istringstream lines(std::string(text, length));
  int count;
  const option_row *row = option_table(count);
  for (int i = 0; i < count; ++i) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line.find(row[i].name), 0U) << line;
    EXPECT_NE(line.find(row[i].text), std::string::npos) << line;
  }
}

} // namespace
} // namespace nth::detail
