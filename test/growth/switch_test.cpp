// When a stub switches stacks, and what passes.
#include "support.hpp"

#include <cpuid.h>
#include <cstring>
#include <memory>

using namespace nth::test;
using nth::detail::stack_top;
using nth::detail::top_of;

namespace {

struct probe_result {
  long wrong = 0;
  long moved = 0;
  long stayed = 0;
};

// On the stack of the caller, from its lowest byte on: at which rsp a stub moves.
void find_edge(probe_result *r, std::uintptr_t (*stub)(), long need) {
  const stack_top *top = top_of(here());
  const std::uintptr_t low = lowest_byte(top);
  // Twice: the second time the edge is known.
  for (std::uintptr_t turn = 0, rsp = low + need + 200; turn < 2;
       turn += rsp == low + NTH_STUB_STACK, rsp = rsp == low + NTH_STUB_STACK ? low + need + 200 : rsp - 8) {
    const std::uintptr_t at = answer_at(rsp, stub);
    const bool moved = top_of(at) != top;
    const bool expected = rsp + 8 < low + static_cast<std::uintptr_t>(need);
    r->wrong += moved != expected || (!moved && at != rsp);
    r->wrong += moved && at % 16 != rsp % 16;
    ++(moved ? r->moved : r->stayed);
  }
}

TEST(a_stub, switches_exactly_where_there_is_no_room) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    probe_result small, large;
    run_small(2000, find_edge, &small, stub_here, 512L);
    EXPECT_EQ(small.wrong, 0);
    EXPECT_GT(small.moved, 20);
    EXPECT_GT(small.stayed, 20);
    // The threshold of its limit is 1024, its need 608: between them __morestack jumps on.
    run_small(2000, find_edge, &large, stub_less, 608L);
    EXPECT_EQ(large.wrong, 0);
    EXPECT_GT(large.stayed, 20);
    expect_no_segments(1);
  }
}

TEST(a_stub, switches_on_a_stack_of_the_default_class) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    probe_result r;
    run([&] { find_edge(&r, stub_here, 512); });
    EXPECT_EQ(r.wrong, 0);
    EXPECT_GT(r.moved, 20);
  }
}

TEST(a_stub, of_a_callee_without_a_bound_asks_for_a_guard_page) {
  const watchdog guard;
  const runtime up(1);
  struct {
    std::uintptr_t rsp, at;
  } r{};
  run_small(
      2000,
      +[](decltype(r) *to) {
        to->rsp = here();
        to->at = stub_guarded();
      },
      &r);
  EXPECT_NE(top_of(r.rsp), top_of(r.at));
  EXPECT_EQ(nth::detail::stack_size_of(top_of(r.at)), nth::detail::the_stacks.size());
}

// What libnth knows of a thread that has switched, the first time and by what was noted then.
struct on_segment {
  nth_desc *self;
  const stack_top *beneath;
  long wrong;
  long switches;
};
on_segment seen;

void look_around(descent *) {
  const stack_top *top = top_of(here());
  const auto *w = nth::detail::current_worker();
  const auto &c = nth::detail::the_limits.of[nth::detail::region_of_stack(top)];
  ++seen.switches;
  seen.wrong += nth_self() != seen.self;
  seen.wrong += top == seen.beneath || top->next != seen.beneath || seen.beneath->above != top;
  seen.wrong += top->segments != seen.beneath->segments + c.units || w->edge.here != top;
  for (unsigned i = 0; i < NTH_STUB_LIMITS; ++i)
    seen.wrong += w->limits[i] != lowest_byte(top) + nth_growth_program.thresholds[i] - 8;
  seen.wrong += w->fork_mask != c.last || w->fork.floor != c.fork_floor;
}

void switch_with_small_and_large_needs(long room) {
  call_with_room(
      room,
      +[](long *) {
        seen = {nth_self(), top_of(here()), seen.wrong, seen.switches};
        descent d{};
        d.deepest = look_around;
        for (int i = 0; i < 20; ++i) {
          if (i % 5 == 4) { // more than the segment at hand has, on small stacks
            const std::uintptr_t at = stub_here_large();
            seen.wrong += at + 8 < lowest_byte(top_of(at)) + 4000;
          }
          stub_down(0, &d);
          const auto *w = nth::detail::current_worker();
          seen.wrong += w->edge.here != seen.beneath || seen.beneath->above != nullptr;
          seen.wrong += w->limits[0] != lowest_byte(seen.beneath) + 512 - 8;
        }
      },
      static_cast<long *>(nullptr));
}

TEST(a_stub, tells_libnth_where_the_thread_is) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    seen = {};
    run_small(1900, switch_with_small_and_large_needs, 380L);
    // Several on one stack, where the policy has it so.
    run([] {
      nth_depadd(nth_self(), 4);
      for (int i = 0; i < 3; ++i)
        nth_to_lrq(0, nth_create_ls(reinterpret_cast<void (*)()>(switch_with_small_and_large_needs), 0,
                                    nth_self(), 1, 380L));
      nth_block();
    });
    EXPECT_EQ(seen.wrong, 0);
    EXPECT_EQ(seen.switches, 80);
    expect_no_segments(1);
  }
}

TEST(a_stub, outside_of_threads_has_room) {
  EXPECT_NE(stub_here(), 0U);
  const runtime up(1);
  EXPECT_NE(stub_here(), 0U);
}

// ---- Registers ----

struct alignas(64) registers {
  std::uint64_t general[16];
  unsigned char vector[32][64];
  struct {
    unsigned char bytes[16];
  } x87[8];
};
static_assert(sizeof(registers) == 128 + 64 * 32 + 128);

extern "C" registers *given, *arrived, *answered, *returned;
extern "C" std::uintptr_t arrived_rsp;
extern "C" int vector_kind;

constexpr int rbx = 9, rbp = 10, words = 15;

void fill(registers &r, unsigned seed) {
  unsigned char *bytes = reinterpret_cast<unsigned char *>(&r);
  for (std::size_t i = 0; i < sizeof r; ++i)
    bytes[i] = static_cast<unsigned char>((i * 131 + seed * 17) >> (i % 3));
  for (auto &x : r.x87) { // normal numbers
    x.bytes[7] |= 0x80;
    x.bytes[8] = 0xff;
    x.bytes[9] = 0x3f;
    std::memset(x.bytes + 10, 0, 6);
  }
}

int vector_bytes() { return vector_kind == 2 ? 64 : vector_kind == 1 ? 32 : 16; }

void expect_same_vectors(const registers &a, const registers &b) {
  for (int i = 0; i < (vector_kind == 2 ? 32 : 16); ++i)
    EXPECT_EQ(std::memcmp(a.vector[i], b.vector[i], static_cast<std::size_t>(vector_bytes())), 0)
        << "vector " << i;
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(std::memcmp(a.x87[i].bytes, b.x87[i].bytes, 10), 0) << "x87 " << i;
}

// `room`: bytes that the stub finds.
void pass_registers(long room) {
  const std::uintptr_t low = lowest_byte(top_of(here()));
  call_registers(low + static_cast<std::uintptr_t>(room) - 8, stub_registers);
}

TEST(a_switch, leaves_all_registers_as_they_are) {
  const watchdog guard;
  __builtin_cpu_init();
  vector_kind = __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
  const auto all = std::make_unique<registers[]>(4);
  given = &all[0], arrived = &all[1], answered = &all[2], returned = &all[3];
  for (const nth_policy policy : all_policies) {
    nth_options chosen = options(1, policy);
    const runtime up(chosen);
    // Lists are empty, and filled from new memory; then the segment is the kept one; then no switch at all; then on
    // stacks of the default class, lists empty first.
    for (int turn = 0; turn < 6; ++turn) {
      SCOPED_TRACE(testing::Message() << name_of(policy) << ", turn " << turn);
      fill(*given, 1 + static_cast<unsigned>(turn));
      fill(*answered, 100 + static_cast<unsigned>(turn));
      const bool moves = turn != 2;
      const auto body = [](long r) { pass_registers(r); };
      if (turn < 3)
        run_small(2000, +body, moves ? 400L : 520L);
      else
        run([&] { pass_registers(400); });
      for (int i = 0; i < words; ++i) {
        if (i != rbp || !moves) {
          EXPECT_EQ(arrived->general[i], given->general[i]) << "general " << i;
        }
        EXPECT_EQ(returned->general[i], i < rbx ? answered->general[i] : given->general[i])
            << "general " << i;
      }
      expect_same_vectors(*arrived, *given);
      expect_same_vectors(*returned, *answered);
    }
    EXPECT_GT(stats_now().segments_switched, 0);
  }
}

// ---- Stack below rsp ----

struct painted {
  long most = 0;
};

// What a stub takes below rsp until it has switched, and after it has come back.
void paint(painted *r, std::uintptr_t (*stub)(), long turns) {
  const std::uintptr_t low = lowest_byte(top_of(here()));
  const std::uintptr_t rsp = low + 320 - 8;
  for (long i = 0; i < turns; ++i) {
    auto *bytes = reinterpret_cast<volatile unsigned char *>(low);
    for (std::uintptr_t at = 0; at < rsp - low - 8; ++at)
      bytes[at] = 0xa5;
    answer_at(rsp, stub);
    std::uintptr_t untouched = 0;
    while (bytes[untouched] == 0xa5)
      ++untouched;
    const long used = static_cast<long>(rsp - low - untouched);
    r->most = used > r->most ? used : r->most;
  }
}

TEST(a_switch, takes_no_more_of_the_old_stack_than_is_said) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    painted empty_lists, kept;
    run_small(2000, paint, &empty_lists, stub_here, 1L);
    run_small(2000, paint, &kept, stub_here, 10L);
    std::printf("%s: %ld bytes below rsp with empty lists, %ld at most later\n", name_of(policy),
                empty_lists.most, kept.most);
    EXPECT_LE(empty_lists.most, NTH_STUB_STACK);
    EXPECT_LE(kept.most, NTH_STUB_STACK);
    EXPECT_GT(kept.most, 100);
  }
}

} // namespace
