// Reading what lackey writes, and the part of a trace that is counted.
#include "simulation.hpp"

#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using trace::event;
using trace::simulation;

TEST(Line, EachKind) {
  const struct {
    const char *text;
    char kind;
    std::uint64_t address, bytes;
  } good[] = {{"I  04001090,3", 'I', 0x4001090, 3},
              {" L 1ffefffe7c,8", 'L', 0x1ffefffe7c, 8},
              {" S 0421c7cc,4", 'S', 0x421c7cc, 4},
              {" M ffffffffffffffff,16", 'M', ~std::uint64_t{0}, 16}};
  for (const auto &g : good) {
    event e{};
    ASSERT_EQ(trace::read_line(g.text, e), 1) << g.text;
    EXPECT_EQ(e.kind, g.kind);
    EXPECT_EQ(e.address, g.address);
    EXPECT_EQ(e.bytes, g.bytes);
  }
}

TEST(Line, ValgrindsOwnAreLeftOutAndOthersAreNot) {
  event e{};
  for (const char *own : {"", "==123== Lackey, an example Valgrind tool", "--123-- warning", "**123** text"})
    EXPECT_EQ(trace::read_line(own, e), 0) << own;
  for (const char *other : {"x", " ", "hello", " X 1,2", "I  ,3", "I  12", "I  12,", "I  12,3 ", "I 12,3",
                            " L  12,3", "=123=", " L 12345678901234567,8"})
    EXPECT_EQ(trace::read_line(other, e), -1) << other;
}

// What a pipe with `text` in it reads as.
std::string kinds_of(const std::string &text) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return "no pipe";
  close(ends[1]);
  std::string kinds;
  try {
    trace::read_events(ends[0], [&](const event &e) { kinds += e.kind; });
  } catch (const std::runtime_error &e) {
    kinds = e.what();
  }
  close(ends[0]);
  return kinds;
}

TEST(Lines, TheLastOneNeedsNoEnd) { EXPECT_EQ(kinds_of("I  10,3\n L 20,8\n==1== text\n S 30,8"), "ILS"); }
TEST(Lines, NothingIsATrace) { EXPECT_EQ(kinds_of(""), ""); }

TEST(Lines, WhatIsNoTraceIsNamed) {
  EXPECT_EQ(kinds_of("I  10,3\nhello\n"), "line 2 of the trace is none of lackey's: 'hello'; expected what "
                                          "valgrind --tool=lackey --trace-mem=yes "
                                          "writes, apart from the program's output");
}

TEST(Lines, MoreThanIsReadAtATime) {
  FILE *const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  constexpr long count = 300'000; // 4 MB
  for (long i = 0; i < count; ++i)
    std::fprintf(file, " L %08lx,8\n", static_cast<unsigned long>(i) * 8);
  std::fflush(file);
  ASSERT_EQ(lseek(fileno(file), 0, SEEK_SET), 0);
  long seen = 0;
  bool in_order = true;
  trace::read_events(fileno(file), [&](const event &e) {
    in_order = in_order && e.address == static_cast<std::uint64_t>(seen) * 8 && e.bytes == 8;
    ++seen;
  });
  std::fclose(file);
  EXPECT_EQ(seen, count);
  EXPECT_TRUE(in_order);
}

simulation one_of_each() {
  std::vector<trace::memory> caches, tlbs;
  caches.emplace_back(trace::cache_geometry("l1:8K:1:32:no-write-allocate"));
  tlbs.emplace_back(trace::tlb_geometry("t:4:full:4K"));
  return {std::move(caches), std::move(tlbs)};
}

TEST(Simulation, InstructionsAreCountedAndAreNoData) {
  simulation s = one_of_each();
  s.take({'I', 0x1000, 4});
  s.take({'I', 0x1004, 4});
  s.take({'L', 0x5000, 8});
  EXPECT_EQ(s.instructions(), 2U);
  const trace::counts &c = s.all_caches()[0].count();
  EXPECT_EQ(c.loads + c.stores, 1U);
  EXPECT_EQ(c.load_misses, 1U);
}

TEST(Simulation, AModifyingInstructionLoadsAndThenStores) {
  simulation s = one_of_each();
  s.take({'M', 0x5000, 8});
  for (const trace::memory *m : {&s.all_caches()[0], &s.all_tlbs()[0]}) {
    EXPECT_EQ(m->count().loads, 1U);
    EXPECT_EQ(m->count().stores, 1U);
    EXPECT_EQ(m->count().load_misses, 1U);
    EXPECT_EQ(m->count().store_misses, 0U); // the load has brought it
  }
}

TEST(Simulation, CountsBetweenTheMarksAlone) {
  simulation s = one_of_each();
  s.between(0x100, 0x108);
  const event trace[] = {
      {'I', 1, 1},     {'L', 0x9000, 8},                   // before
      {'L', 0x100, 8},                                     // a load is no mark
      {'I', 2, 1},     {'S', 0x100, 8},                    // begin
      {'I', 3, 1},     {'L', 0x9000, 8}, {'S', 0x9000, 8}, // what came before did not warm anything
      {'I', 4, 1},     {'S', 0x108, 8},                    // end
      {'I', 5, 1},     {'L', 0xa000, 8},                   // behind
      {'I', 6, 1},     {'S', 0x100, 8},                    // once more
      {'I', 7, 1},     {'L', 0x9000, 8},
  };
  for (const event &e : trace)
    s.take(e);
  EXPECT_EQ(s.instructions(), 3U);
  EXPECT_EQ(s.phases(), 2U);
  const trace::counts &c = s.all_caches()[0].count();
  EXPECT_EQ(c.loads, 2U);
  EXPECT_EQ(c.stores, 1U);
  EXPECT_EQ(c.load_misses, 1U);
}

} // namespace
