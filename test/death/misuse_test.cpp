// Every user mistake: with the default handler the process dies with a message that names it; a handler that
// returns is told once, with the right status, and the run goes on with nothing lost.
#include "../support/message.hpp"
#include "../support/reports.hpp"
#include "../support/runtime.hpp"
#include "mistakes.hpp"

#include <csignal>
#include <string>
#include <vector>

using namespace nth::test;

namespace {

class misuse : public testing::TestWithParam<mistake> {};

TEST_P(misuse, is_reported) {
  const mistake &one = GetParam();
  const reports told;
  one.make();
  EXPECT_EQ(told.count(), 1) << told.messages();
  EXPECT_EQ(told.last_status(), one.status);
  const std::vector<std::string> words(one.words.begin(), one.words.end());
  EXPECT_TRUE(names(words).MatchAndExplain(told.messages(), nullptr)) << told.messages();
}

class misuse_death : public misuse {};

TEST_P(misuse_death, ends_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const mistake &one = GetParam();
  const std::vector<std::string> words(one.words.begin(), one.words.end());
  EXPECT_EXIT(one.make(), testing::KilledBySignal(SIGABRT), names(words));
}

const auto name = [](const auto &test) { return std::string(test.param.name); };
INSTANTIATE_TEST_SUITE_P(creation, misuse, testing::ValuesIn(creation_mistakes), name);
INSTANTIATE_TEST_SUITE_P(queue, misuse, testing::ValuesIn(queue_mistakes), name);
INSTANTIATE_TEST_SUITE_P(batches, misuse, testing::ValuesIn(batch_mistakes), name);
INSTANTIATE_TEST_SUITE_P(creation, misuse_death, testing::ValuesIn(creation_mistakes), name);
INSTANTIATE_TEST_SUITE_P(queue, misuse_death, testing::ValuesIn(queue_mistakes), name);
INSTANTIATE_TEST_SUITE_P(batches, misuse_death, testing::ValuesIn(batch_mistakes), name);

// Calls that return a status do not tell the handler.
TEST(misuse_status, is_returned) {
  const watchdog guard;
  const reports told;
  const runtime up(1);
  EXPECT_EQ(nth_try_block(), NTH_ESTATE);
  EXPECT_EQ(nth_detach(), NTH_ESTATE);
  EXPECT_EQ(nth_run_v(nullptr, 0, nullptr), NTH_EINVAL);
  EXPECT_EQ(nth_init(nullptr), NTH_ESTATE);
  EXPECT_STRNE(nth_last_error(), "");
  EXPECT_EQ(told.count(), 0) << told.messages();
}

TEST(misuse_handler, is_exchanged) {
  const nth_error_handler mine = [](nth_status, const char *) {};
  EXPECT_EQ(nth_set_error_handler(mine), nullptr);
  EXPECT_EQ(nth_set_error_handler(nullptr), mine);
  EXPECT_EQ(nth_set_error_handler(nullptr), nullptr);
}

} // namespace
