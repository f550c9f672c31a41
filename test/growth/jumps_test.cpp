// The kinds of longjmp, and contexts: segments that they leave are given back, and limits follow.
#include "on_segments.hpp"

#include <memory>
#include <vector>

using namespace nth::test;

namespace {

using jump_function = void (*)(jmp_buf, int);

struct kind_of_jump {
  jump_function jump;
  int levels;
  outcome o{};
  int turn = 0;
};

void jump_from_deep(kind_of_jump *k) {
  for (k->turn = 0; k->turn < 3; ++k->turn) {
    sigjmp_buf back;
    static sigjmp_buf *target;
    static jump_function with;
    target = &back;
    with = k->jump;
    const int value = sigsetjmp(back, k->turn % 2);
    if (value == 0) {
      descent d{};
      d.deepest = [](descent *) { with(*target, 7); };
      stub_down(k->levels, &d);
    }
    k->o.caught += value == 7;
    k->o.wrong += !limits_are_right();
  }
}

TEST(a_jump, of_each_kind_leaves_segments) {
  for (const jump_function jump : {jump_function(stub_longjmp), jump_function(stub_siglongjmp),
                                   jump_function(stub__longjmp), jump_function(stub___longjmp_chk)}) {
    for (const int levels : {20, 100, 3000}) {
      kind_of_jump k{jump, levels};
      on_segments(900, jump_from_deep, &k);
      EXPECT_EQ(k.o.caught, 18);
      EXPECT_EQ(k.o.wrong, 0);
    }
  }
}

// glibc's checked longjmp lets nobody jump to a lower address. Segments lie where they lie.
TEST(a_jump, that_is_checked_may_go_to_a_lower_address) {
  kind_of_jump k{stub___longjmp_chk, 3000};
  const watchdog guard;
  const runtime up(1);
  // The thread's first stack is the lowest of its class: large classes lie above small ones.
  run_small(1900, jump_from_deep, &k);
  EXPECT_EQ(k.o.caught, 3);
  EXPECT_EQ(k.o.wrong, 0);
}

// ---- Contexts ----

struct contexts {
  ucontext_t back, inside;
  std::vector<char> stack;
  outcome *o;
  int step;
};
contexts *running;

void set_by_stub(descent *) { stub_setcontext(&running->back); }
// Its target calls through a stub, on a stack that is about to be left.
void set_slowly(descent *) {
  call_with_room(
      700, +[](long *) { stub_slow_setcontext(&running->back); }, static_cast<long *>(nullptr));
}
void (*setter)(descent *);

class setcontext_test : public testing::TestWithParam<void (*)(descent *)> {};

TEST_P(setcontext_test, off_a_segment) {
  setter = GetParam();
  const auto c = std::make_unique<contexts>();
  outcome o{};
  c->o = &o;
  on_segments(
      3000,
      +[](contexts *it) {
        running = it;
        volatile int turn = 0;
        getcontext(&it->back);
        if (turn == 0) {
          turn = 1;
          descent d{};
          d.deepest = setter;
          stub_down(500, &d);
          ++it->o->wrong;
        }
        ++it->o->caught;
        it->o->wrong += !limits_fit();
        it->o->wrong += !limits_are_right();
      },
      c.get());
  EXPECT_EQ(o.caught, 6);
  EXPECT_EQ(o.wrong, 0);
}
INSTANTIATE_TEST_SUITE_P(ways, setcontext_test, testing::Values(set_by_stub, set_slowly));

// A stack that is nobody's: stubs jump on there, whatever the limits.
void on_a_coroutine() {
  for (;;) {
    descent d{};
    running->o->wrong += stub_down(100, &d) != 100;
    running->o->wrong += nth::detail::on_stack(d.lowest_rsp);
    ++running->step;
    stub_swapcontext(&running->inside, &running->back);
  }
}

TEST(swapcontext, from_segments_to_a_coroutine_and_back) {
  const auto c = std::make_unique<contexts>();
  outcome o{};
  c->o = &o;
  c->stack.resize(64 << 10);
  on_segments(
      3900,
      +[](contexts *it) {
        running = it;
        it->step = 0;
        getcontext(&it->inside);
        it->inside.uc_stack.ss_sp = it->stack.data();
        it->inside.uc_stack.ss_size = it->stack.size();
        it->inside.uc_link = nullptr;
        makecontext(&it->inside, on_a_coroutine, 0);
        for (const int levels : {0, 3, 50, 500}) {
          descent d{};
          d.deepest = [](descent *) {
            const auto before = here();
            stub_swapcontext(&running->back, &running->inside);
            running->o->wrong += here() != before || !limits_are_right();
            descent more{};
            running->o->wrong += stub_down(20, &more) != 20;
          };
          it->o->wrong += stub_down(levels, &d) != levels;
        }
        it->o->caught += it->step == 4;
        it->o->wrong += !limits_are_right();
      },
      c.get());
  EXPECT_EQ(o.caught, 6);
  EXPECT_EQ(o.wrong, 0);
}

} // namespace
