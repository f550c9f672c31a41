// A worker: one kernel thread that runs nano-threads, and all that belongs to it. The ready queue of a
// worker, in the order in which it runs what is there:
//
//   front window -> front ring (young … old) -> back ring (old … young) -> back window
//   ^ nth_to_lrq, successors                                              ^ nth_to_lrq_end, nth_yield
//
// The rings hold closed blocks that thieves take by one CAS. The windows, the outgoing blocks and the
// unposted count ("private part" below) are worked on by the owner without a locked instruction; a thief
// asks for them through `request`, and takes them itself when the owner does not answer (steal.cpp).
#pragma once

#include "arch/worker_offsets.h"
#include "memory/block.hpp"
#include "memory/stack.hpp"
#include "nth/growth.h"
#include "nth/spawn.h"
#include "thread/block_ring.hpp"
#include "thread/descriptor.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nth::detail {

// A block that is being filled or emptied, its bounds kept at hand. Without a block, lo == hi, and the
// values are such that the next push takes the slow path.
struct window {
  block *b{nullptr};
  std::uint32_t lo{0};
  std::uint32_t hi{0};
  bool empty() const noexcept { return lo == hi; }
};

// Programs with small stacks (growth/). `under` and `segment` are those of the last switch, and what follows is what a
// switch between them would have to find out again. Whatever has become of the two, it holds of these addresses: a
// switch is made by it when `here` and `kept` are they.
struct edge_of_stack {
  stack_top *here{nullptr}; // its limits are in force; not retired, nothing above it. Null: stubs always ask
  stack_top *kept{nullptr}; // the segment that was left last
  stack_top *under{&no_stack};
  std::uintptr_t under_lowest{0}; // what the program may use of it:
  std::uintptr_t under_bytes{0};  // so much
  stack_top *segment{&no_stack};
  std::uintptr_t least{0}; // a callee that takes [least, least + span] bytes may have the segment
  std::uintptr_t span{0};
  std::uintptr_t begin{0};        // its frames begin there
  std::uint32_t units{0};         // its bytes / 256
  std::uint32_t most_segments{0}; // of these that one thread had
  long hits{0};                   // the segment that was kept was taken again
  struct bounds {
    std::uintptr_t limits[NTH_STUB_LIMITS]{};
    std::uintptr_t fork_mask{0}; // as worker::fork_mask, and
    std::uintptr_t fork_floor{0};
  } of_under{}, of_segment{};
  stack_top *last{
      nullptr}; // where something was last left to C++: twice in turn at one stack, and it is noted
};

// request: the two low bits say who holds the private part.
//   idle -> asked (thief) -> answering (owner) -> idle
//                         -> locked (thief)    -> idle
// All bits clear is what the owner's hot paths test for.
constexpr std::uint32_t request_idle = 0;
constexpr std::uint32_t request_asked = 1;
constexpr std::uint32_t request_locked = 2;
constexpr std::uint32_t request_answering = 3;
constexpr std::uint32_t request_mask = 3;
// A worker sleeps: whoever gets work to share looks here and wakes it.
constexpr std::uint32_t request_poison = 4;
// There is no membarrier(2): the owner pays for a locked instruction. Set for the whole run.
constexpr std::uint32_t request_fence = 8;
// A thief has taken the youngest spawn record of the list: no more before the owner has looked (fork.cpp).
constexpr std::uint32_t request_barred = 16;
// Beside asked: who asks. A thief locks by its own ask alone, for the owner may have answered that and
// another thief asked since.
constexpr unsigned request_asker_shift = 8;
constexpr std::uint32_t request_kept =
    request_poison | request_fence | request_barred; // what outlives an answer
constexpr std::uint32_t ask_of(int worker_id) noexcept {
  return request_asked | static_cast<std::uint32_t>(worker_id) << request_asker_shift;
}

// The C++ run-time's exception state of a kernel thread, as the Itanium ABI lays it out.
struct exception_globals {
  void *caught;
  unsigned int uncaught;
};

// What a thief takes from another worker's private part.
struct private_part {
  window front; // runs next
  window back;
  window *outgoing;     // [workers]: on their way to another worker; .b->end tells the end
  int outgoing_count;   // of them, not empty
  nth_desc *spare;      // linked threads for which no block could be had: from the front, last in first out,
  nth_desc *spare_back; // and from the back, first in first out, behind the back window
  nth_desc *spare_back_last;
  block *spare_blocks;       // linked blocks that no ring could hold
  nth_desc *ended_of;        // successor of threads that have ended here and are not posted yet,
  std::uint32_t ended_count; // and their number
};

struct worker {
  // -- written by the owner on each dispatch; thieves read `busy` while they wait --
  std::atomic<std::uint32_t> busy{0}; // 1 while the owner works on its private part
  std::uint32_t tick{0};              // dispatches left until the inbox is looked at
  private_part own{};
  bool closed{false}; // the rings may hold blocks, or the spare lists something
  // backlog.hpp, for whoever holds the private part:
  int recount{0}; // questions until `away` is counted anew
  long away{0};   // blocks sent to other workers that may still wait there
  int id{-1};
  int home{0}; // of its memory (area.hpp)
  int node{0}; // the NUMA node of that

  // -- the owner's alone --
  // Dead descriptors of this home, taken and put at free_count. Without a block the count is 0 and
  // the room too, so that both take their slow path.
  alignas(64) block *free_descs{nullptr};
  std::uint32_t free_count{0};
  std::uint32_t free_room{0}; // block_size, or 0 without a block
  // What the hot paths must not take for a thread on a stack of the default class.
  std::uint32_t special{1};     // special_nobody, until a worker is made of it
  std::uintptr_t home_begin{0}; // descriptors of this home lie in [home_begin, home_begin + home_bytes)
  std::uintptr_t home_bytes{0};
  exception_globals *eh{nullptr}; // of this kernel thread (no_exceptions in a C program); so is
  int *errno_place{nullptr};
  nth_desc *first{nullptr}; // what a fresh loop is to run first
  // A child may be called on a stack with so much room below rsp; none on a stack of another class, or by a
  // kernel thread that is no worker.
  std::uintptr_t join_floor{~std::uintptr_t{0}};
  stack_top *dropped{nullptr}; // the loop stack left last; nobody else may have it before the next drop
  // The suspended scheduler loop: policies lsa and dos, and where a thread has a stack of its own class.
  void *loop_sp{nullptr};
  nth_desc *ended{nullptr};        // the thread that has just ended on a stack that is not the loop's
  std::uintptr_t *limits{nullptr}; // nth_stack_limits of this kernel thread; null: a program without stubs
  nth_desc *batch_last{nullptr};   // of the batch that was made here last, and its size: a hint
  std::uint32_t batch_size{1};
  block *free_first{nullptr}; // more of them, full blocks, first in first out
  block *free_last{nullptr};
  long free_queued{0};      // so many descriptors are in them
  nth_desc *loose{nullptr}; // dead descriptors of any home for which no block could be had
  long loose_count{0};
  block **returns_to{nullptr}; // [homes]: dead descriptors on their way home; hi counts
  block_list empties{};
  stack_list stacks[stack_regions]{};
  long stacks_used[stack_regions]{};      // taken here less given here; the sum over all workers is in use
  chain<stack_top> *stacks_away{nullptr}; // [nodes][stack_regions]: on their way there; null: one node
  chain<block> *blocks_away{nullptr};     // [nodes]
  void *kernel_sp{nullptr};               // the kernel thread's own stack, for the end of the run
  std::uint64_t random{1};
  std::uint16_t *victims{nullptr};    // [workers - 1], in the order in which they are robbed (victims.hpp)
  std::uint16_t *group_ends{nullptr}; // [workers]
  std::atomic<long> steals{0};        // counters that others read
  std::atomic<long> steals_remote{0};
  std::atomic<long> sleeps{0};
  long segments_taken{0};         // from the lists, or made; not the one that was kept
  std::atomic<long> unbounded{0}; // threads created here whose root has no bound
  std::uint32_t stack_misses{0};
  exception_globals no_exceptions{};
  unsigned long kernel_thread{0};

  // Calls that the running thread has spawned (fork.hpp).
  const nth_spawn_record *keep{nullptr}; // not to be offered: its owner is about to have it
  nth_spawn_record *waits_for{nullptr}; // what the thread `waiter` has been suspended for, until that is told
  nth_desc *waiter{nullptr};
  edge_of_stack edge{};
  alignas(64) nth_fork fork{};

  // -- written by thieves, polled by the owner --
  alignas(64) std::atomic<std::uint32_t> request{request_idle};
  std::uintptr_t fork_mask{0}; // the owner's, read beside request: size of the stack, less one

  // -- written by others now and then --
  alignas(64) std::atomic<block *> inbox{nullptr};    // ready threads from elsewhere, youngest first
  std::atomic<std::uint32_t> taking{0};               // blocks that the owner is about to take from an inbox
  alignas(64) std::atomic<block *> returned{nullptr}; // dead descriptors of this home
  alignas(64) std::atomic<std::uint32_t> asleep{0};   // 1: sleeps in the kernel, on this word
  std::atomic<std::uint32_t> active{0};               // 0: searching or asleep: nothing to be had here

  block_ring<block> front_ring;
  block_ring<block> back_ring;
};
static_assert(offsetof(worker, busy) == 0, "switch.S clears busy through the worker's address");
static_assert(offsetof(worker, special) == NTH_WORKER_SPECIAL &&
                  offsetof(worker, loop_sp) == NTH_WORKER_LOOP_SP &&
                  offsetof(worker, ended) == NTH_WORKER_ENDED &&
                  offsetof(worker, limits) == NTH_WORKER_LIMITS &&
                  offsetof(worker, edge) == NTH_WORKER_EDGE &&
                  offsetof(worker, fork) + offsetof(nth_fork, floor) == NTH_WORKER_FORK_FLOOR &&
                  offsetof(worker, fork_mask) == NTH_WORKER_FORK_MASK,
              "assembly knows them by worker_offsets.h");

// worker::special
constexpr std::uint32_t special_nobody = 1; // no worker
constexpr std::uint32_t special_class =
    2; // the running thread has a stack of its own class, maybe a small one
static_assert(sizeof(nth_fork) == 64 && offsetof(worker, request) == offsetof(worker, fork) + 64 &&
                  offsetof(worker, fork_mask) == offsetof(worker, request) + offsetof(nth_fork_watch, mask),
              "nth/spawn.hpp finds the one behind the other");
static_assert(offsetof(edge_of_stack, kept) == NTH_EDGE_KEPT &&
              offsetof(edge_of_stack, under) == NTH_EDGE_UNDER &&
              offsetof(edge_of_stack, under_lowest) == NTH_EDGE_UNDER_LOWEST &&
              offsetof(edge_of_stack, under_bytes) == NTH_EDGE_UNDER_BYTES &&
              offsetof(edge_of_stack, segment) == NTH_EDGE_SEGMENT &&
              offsetof(edge_of_stack, least) == NTH_EDGE_LEAST &&
              offsetof(edge_of_stack, span) == NTH_EDGE_SPAN &&
              offsetof(edge_of_stack, begin) == NTH_EDGE_BEGIN &&
              offsetof(edge_of_stack, units) == NTH_EDGE_UNITS &&
              offsetof(edge_of_stack, most_segments) == NTH_EDGE_MOST &&
              offsetof(edge_of_stack, hits) == NTH_EDGE_HITS &&
              offsetof(edge_of_stack, of_under) == NTH_EDGE_OF_UNDER &&
              offsetof(edge_of_stack, of_segment) == NTH_EDGE_OF_SEGMENT &&
              offsetof(edge_of_stack::bounds, fork_mask) == NTH_BOUNDS_MASK &&
              offsetof(edge_of_stack::bounds, fork_floor) == NTH_BOUNDS_FLOOR);
static_assert(offsetof(worker, free_descs) % 64 == 0 && offsetof(worker, request) % 64 == 0);

// Threads that are fetched ahead of their turn: descriptors at both ends of their lives.
constexpr std::uint32_t prefetch_distance = 6;
// Dispatches between two looks at the inbox of a worker that never runs dry.
constexpr std::uint32_t inbox_period = 61;

// ---- Who runs here ---------------------------------------------------------------------------------

// Stands for the worker of kernel threads that are none: id -1, nothing in it, so that the checks of the
// hot paths send them to the slow ones.
extern worker nobody;

// The worker of this kernel thread, or nobody. Assembly, for a compiler would keep the address of a
// thread_local across a call in which the nano-thread moves to another kernel thread.
extern "C" {
extern __thread worker *nth_tls_worker __attribute__((visibility("hidden"), tls_model("initial-exec")));
}

inline worker *current_worker() noexcept {
  worker *w;
  asm volatile("movq nth_tls_worker@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(w));
  return w;
}

inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}

inline worker *worker_or_null() noexcept {
  worker *w = current_worker();
  return w->special == special_nobody ? nullptr : w;
}

// Paper 000, section 3: address bits, class, top word.
inline nth_desc *self() noexcept {
  const std::uintptr_t sp = stack_pointer();
  return on_stack(sp) ? top_of(sp)->thread : nullptr;
}

// The same inside a worker, where rsp is known to lie on a stack of the area.
inline stack_top *top_here() noexcept {
  return reinterpret_cast<stack_top *>((stack_pointer() | stack_last) + 1) - 1;
}
inline nth_desc *running() noexcept { return top_here()->thread; }

// ---- The private part --------------------------------------------------------------------------------

// A counter with one writer.
inline void count_one(std::atomic<long> &counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

extern bool one_sided_barrier; // membarrier(2) works

void answer_request(worker *w) noexcept;
void share_with_sleepers(worker *w) noexcept;

// Brackets each touch of the private part. The owner's store of busy and its load of request must not be
// reordered: either a compiler barrier here and membarrier in the thief, or an exchange here. An owner
// that read "idle" has its busy = 1 visible to a thief that asked and passed the barrier, so that thief
// waits; an owner that read anything else settles with the thief in answer_request.
//
// True: nobody wants anything, and threads may be pushed without a look at leave_sharing. A worker that
// goes to sleep after this poisons, passes the barrier, and waits for busy = 0 before it looks.
inline bool enter_quietly(worker *w) noexcept {
  w->busy.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return w->request.load(std::memory_order_acquire) == request_idle;
}

inline void enter(worker *w) noexcept {
  if (!enter_quietly(w)) [[unlikely]]
    answer_request(w);
}

// Release: what the owner did is seen by the thief that waits for 0. Only where nothing was pushed.
inline void leave(worker *w) noexcept { w->busy.store(0, std::memory_order_release); }

// The same where threads may have become ready: workers that sleep are woken for them. A worker that
// goes to sleep poisons `request`, passes the barrier and then looks: a push that did not see the poison
// is seen by that look.
inline void leave_sharing(worker *w) noexcept {
  if ((w->request.load(std::memory_order_relaxed) & request_poison) != 0) [[unlikely]]
    share_with_sleepers(w);
  leave(w);
}

} // namespace nth::detail
