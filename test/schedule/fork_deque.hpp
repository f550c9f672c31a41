// The deque of spawned calls and loops of one worker, as a model over the memory of an x86-64 machine
// (store_buffer.hpp). Names are those of the protocol (doc/concurrency.md); what may be left out of it is `fault`.
//
//   sentinel <-> shared … shared <-> private … private
//                          ^ bottom             ^ top
//
// Records lie in frames, so a place is used again as soon as its frame has ended: a link is a place and its
// life, compared by place alone, as addresses are, and followed only if that life has not ended.
#pragma once

#include "store_buffer.hpp"
#include "thread/worker.hpp"

#include <string>
#include <vector>

namespace nth::test::fork {

using namespace nth::detail;

enum class fault {
  none,
  no_barrier,             // the thief does not wait for the owner's stores
  barred_not_set,         // taking the youngest record is not told
  barred_lost_at_unlock,  // … or told, and forgotten by the thief's unlock
  takes_though_barred,    // a thief looks only at who holds the deque
  another_ones_ask,       // a thief locks by an ask that is not its own
  top_before_bottom,      // sync: top is written before bottom is tested
  top_not_restored,       // sync: the slow path leaves top below the record
  looks_before_top,       // sync: request is looked at before top is written
  looks_before_lo,        // loop: request is looked at before the index is claimed
  lo_not_restored,        // loop: the slow path leaves the index claimed, and claims the next
  last_index_unbarred,    // the thief that takes the last index does not bar
  spent_loop_unbarred,    // a loop with nothing left, the youngest record, is passed over and not barred
  stale_hi,               // loop: the end is read once
  piece_not_looked_at,    // loop: the end of several indices is not read again after the look at request
  short_rest_not_seen,    // … or it is, and less than the least piece may be left behind
  short_rest_left,        // loop: the slow path leaves less than that behind
  short_rest_taken,       // a thief takes less than the least piece: what a claim under way seems to leave
  lo_read_twice,          // a thief looks whether there is more, and then reads anew what there is
  plain_reset,            // a taken record is left behind without the deque being held
  others_not_shared,      // a sync out of order takes what is above for taken, too
  queued_too_early,       // an offered call may be taken before its state says so
  kept_bits_are_requests, // a poison sends the owner back for ever
  fence_without_exchange, // no membarrier(2): the owner's stores are plain all the same
};

constexpr std::uint32_t kept = detail::request_kept;                          // by a thief
constexpr std::uint32_t owner_keeps = detail::request_kept & ~request_barred; // which the owner has seen to

class deque {
public:
  using word = store_buffers::word;
  using link = std::uint32_t; // life << 8 | place
  static constexpr int places = 32;
  enum : std::uint32_t { state_private, state_shared, state_done };

  struct record {
    word prev, next, state;
    word lo, hi;   // of a loop: the indices that are left
    word pieces;   // of a loop: taken and not ended
    int first = 0; // the number of its call, or of its first index
    bool loop = false;
    std::uint32_t whole = 0; // indices of a loop
    std::uint32_t least = 0; // of a loop: no fewer indices in one piece, where it has so many
    bool live = false;
    link life = 0;
  };
  struct work { // a queued thread: one call, or indices of a loop
    link of = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    bool any() const { return of != 0; }
  };

  deque(store_buffers &of, bool with_membarrier, fault left_out)
      : memory(of), membarrier(with_membarrier), wrong(left_out) {
    request.value = membarrier ? request_idle : request_fence;
    records[0].live = true; // the sentinel
  }

  static int place_of(link r) { return static_cast<int>(r & 255); }
  static bool same(link a, link b) { return place_of(a) == place_of(b); }
  record &at(link r) {
    record &here = records[place_of(r) % places];
    if (!here.live || here.life != r >> 8)
      interleaving::fail("virtual thread " + std::to_string(interleaving::self()) +
                         " follows a link to the record at place " + std::to_string(place_of(r)) +
                         ", which has been popped");
    return here;
  }

  // A record that nobody knows yet: one call, or a loop over n in pieces of `least` (0: a call).
  link fresh(int place, int first, std::uint32_t n, std::uint32_t least) {
    if (place >= places || records[place].live)
      interleaving::fail("the model has run out of records");
    record &r = records[place];
    r.first = first;
    r.loop = least != 0;
    r.whole = n;
    r.least = least;
    r.live = true;
    ++r.life;
    memory.store(r.state, state_private);
    memory.store(r.lo, 0);
    memory.store(r.hi, n);
    memory.store(r.pieces, 0);
    return r.life << 8 | static_cast<link>(place);
  }
  // Its sync has returned.
  void gone(link r) { at(r).live = false; }
  bool ended(link r) {
    record &of = at(r);
    return of.loop ? memory.load(of.pieces) == 0 : memory.load(of.state) == state_done;
  }
  bool empty() const { return place_of(top.value) == 0 && place_of(bottom.value) == 0; }

  // ---- The owner ----

  void spawn(link r) {
    const link below = memory.load(top);
    memory.store(at(r).prev, below);
    memory.store(at(below).next, r);
    memory.store(top, r);
    if (memory.load(request) != 0)
      answer_request();
  }

  // Whether nobody wants what the owner has just taken. Poison and fence stay, so after the first answer
  // they count no more; without membarrier a locked instruction is needed before this look.
  bool quiet(bool answered) {
    if (!answered || wrong == fault::kept_bits_are_requests)
      return memory.load(request) == 0;
    if (!membarrier && wrong != fault::fence_without_exchange)
      memory.exchange(own_line, 0);
    return (memory.load(request) & ~owner_keeps) == 0;
  }

  // The record leaves the deque: true, it is the owner's to run (or its loop's, to end).
  bool pop(link r) {
    for (bool answered = false;; answered = true) {
      bool looked = false;
      if (wrong == fault::looks_before_top)
        looked = quiet(answered);
      const link below = memory.load(at(r).prev);
      if (!same(memory.load(top), r))
        return false;
      if (wrong == fault::top_before_bottom)
        memory.store(top, below);
      if (same(memory.load(bottom), r)) {
        if (wrong == fault::top_before_bottom)
          memory.store(top, r);
        return false;
      }
      memory.store(top, below);
      if (wrong == fault::looks_before_top ? looked : quiet(answered))
        return true;
      if (wrong != fault::top_not_restored)
        memory.store(top, r);
      answer_request();
    }
  }

  // The next indices of the loop r, n of them or, where fewer than the least piece would be left behind, all; how many.
  // first_hi: its end when it began.
  std::uint32_t claim(link r, std::uint32_t first_hi, std::uint32_t n, std::uint32_t &first) {
    first = memory.load(at(r).lo);
    const bool looked = wrong == fault::looks_before_lo && quiet(false);
    const std::uint32_t hi = wrong == fault::stale_hi ? first_hi : memory.load(at(r).hi);
    n = piece(at(r), n, hi - first, true);
    if (n == 0)
      return 0;
    memory.store(at(r).lo, first + n);
    if (wrong == fault::looks_before_lo ? looked : quiet(false)) {
      if (n == 1 || wrong == fault::piece_not_looked_at)
        return n;
      const auto after = static_cast<int>(memory.load(at(r).hi) - first - n);
      if (after == 0 || after >= (wrong == fault::short_rest_not_seen ? 0 : static_cast<int>(at(r).least)))
        return n;
    }
    if (wrong == fault::lo_not_restored)
      first += n;
    memory.store(at(r).lo, first);
    answer_request(r);
    hold();
    n = piece(at(r), n, memory.load(at(r).hi) - first, wrong != fault::short_rest_left);
    memory.store(at(r).lo, first + n);
    memory.fetch_and(request, owner_keeps);
    return n;
  }

  // The record is not on top of the private ones: it was taken, or is synced out of its turn.
  void leave_behind() {
    if (wrong == fault::plain_reset) {
      memory.store(top, 0);
      memory.store(bottom, 0);
    } else {
      share_all(wrong != fault::others_not_shared);
    }
  }

  // All private records become threads, and the deque is empty.
  void share_all(bool queue_them) {
    hold();
    work out[places];
    int count = 0;
    for (link b = memory.load(bottom); !same(b, memory.load(top)) && queue_them;) {
      b = memory.load(at(b).next);
      record &x = at(b);
      if (!x.loop) {
        memory.store(x.state, state_shared);
        out[count++] = {b, 0, 1};
        continue;
      }
      const std::uint32_t lo = memory.load(x.lo);
      const std::uint32_t hi = memory.load(x.hi);
      if (lo >= hi)
        continue;
      memory.store(x.hi, lo);
      add_pieces(x, 1);
      out[count++] = {b, lo, hi};
    }
    memory.store(top, 0);
    memory.store(bottom, 0);
    memory.fetch_and(request, owner_keeps);
    queue.insert(queue.end(), out, out + count);
  }

  // The deque is the owner's alone until it sets request to idle.
  void hold() {
    for (;;) {
      std::uint32_t r = memory.load(request);
      if ((r & request_mask) == request_locked)
        interleaving::wait();
      else if (memory.compare_exchange(request, r, (r & owner_keeps) | request_answering))
        return;
    }
  }

  void answer_request(link about_to_have = 0) {
    for (int spins = 0;; ++spins) {
      std::uint32_t r = memory.load(request);
      if (spins == 0 && (r & request_fence) != 0 && wrong != fault::fence_without_exchange) {
        memory.exchange(own_line, 0);
        continue;
      }
      switch (r & request_mask) {
      case request_idle:
        if ((r & request_barred) != 0)
          memory.fetch_and(request, ~request_barred);
        return;
      case request_locked:
        interleaving::wait();
        continue;
      default:
        break;
      }
      if (!memory.compare_exchange(request, r, (r & owner_keeps) | request_answering))
        continue;
      bool bars = false;
      const work offered = take_oldest(bars, about_to_have);
      if (offered.any() && wrong == fault::queued_too_early)
        queue.push_back(offered);
      memory.fetch_and(request, owner_keeps);
      if (offered.any() && wrong != fault::queued_too_early)
        queue.push_back(offered);
      return;
    }
  }

  // ---- Thieves: as in steal.cpp; see also request_model_test.cpp ----

  bool ask() {
    std::uint32_t r = memory.load(request);
    do {
      if ((r & request_mask) != request_idle)
        return false; // another thief is at it
    } while (!memory.compare_exchange(request, r, (r & kept) | ask_of(interleaving::self())));
    return true;
  }
  bool answered() { return (memory.load(request) & request_mask) == request_idle; }
  void withdraw() { turn_ask(request_idle); }
  // After the thief's ask.
  work steal() {
    if (membarrier && wrong != fault::no_barrier)
      memory.barrier_all();
    if (!turn_ask(request_locked))
      return {};
    bool bars = false;
    work loot;
    if ((memory.load(request) & request_barred) == 0 || wrong == fault::takes_though_barred)
      loot = take_oldest(bars);
    if (bars && wrong != fault::barred_not_set)
      memory.fetch_or(request, request_barred);
    memory.fetch_and(request, wrong == fault::barred_lost_at_unlock ? owner_keeps : kept);
    return loot;
  }
  void poison() { memory.fetch_or(request, request_poison); }
  void end_poison() { memory.fetch_and(request, ~request_poison); }

  // The last touch of whoever ran what was taken: the frame may end.
  void finish(const work &w) {
    record &of = at(w.of);
    if (of.loop)
      add_pieces(of, ~0u);
    else
      memory.exchange(of.state, state_done);
  }

  std::vector<work> queue; // threads that are ready: a list that is right by itself

private:
  bool turn_ask(std::uint32_t next) {
    std::uint32_t r = memory.load(request);
    do {
      if (wrong == fault::another_ones_ask ? (r & request_mask) != request_asked
                                           : (r & ~kept) != ask_of(interleaving::self()))
        return false;
    } while (!memory.compare_exchange(request, r, (r & kept) | next));
    return true;
  }

  // ---- For whoever holds the deque ----

  // The oldest private record, or half of what is left of it. bars: the owner may be about to take the same; of
  // `keep` it is known, and the owner's.
  work take_oldest(bool &bars, link keep = 0) {
    const link t = memory.load(top);
    for (;;) {
      const link b = memory.load(bottom);
      if (same(t, b))
        return {};
      const link x = memory.load(at(b).next);
      record &oldest = at(x);
      if (place_of(x) == 0)
        interleaving::fail("the sentinel is taken for a record");
      const bool youngest = same(x, t);
      if (!oldest.loop) {
        bars = youngest;
        memory.store(oldest.state, state_shared);
        memory.store(bottom, x);
        return {x, 0, 1};
      }
      const auto least = static_cast<int>(oldest.least);
      std::uint32_t lo = memory.load(oldest.lo);
      const std::uint32_t hi = memory.load(oldest.hi);
      auto rest = static_cast<int>(hi - lo);
      const bool kept_back = keep != 0 && same(x, keep);
      if (kept_back && rest / 2 < least)
        return {};
      if (rest <= 0) { // the pieces that others have are waited for by the owner
        bars = youngest && wrong != fault::spent_loop_unbarred;
        memory.store(bottom, x);
        if (youngest)
          return {};
        continue;
      }
      if (rest < least && wrong != fault::short_rest_taken)
        return {};
      if (wrong == fault::lo_read_twice) {
        lo = memory.load(oldest.lo);
        rest = static_cast<int>(hi - lo);
      }
      const bool all = rest / 2 < least;
      const std::uint32_t mid =
          all ? lo : lo + static_cast<std::uint32_t>(kept_back ? rest - rest / 2 : rest / 2);
      memory.store(oldest.hi, mid);
      add_pieces(oldest, 1);
      if (all) {
        bars = youngest && wrong != fault::last_index_unbarred;
        memory.store(bottom, x);
      }
      return {x, mid, hi};
    }
  }

  // n indices of `rest`, or all.
  std::uint32_t piece(const record &of, std::uint32_t n, std::uint32_t rest, bool rule) const {
    if (static_cast<int>(rest) < 0)
      return 0;
    return n > rest || (rule && rest - n < of.least) ? rest : n;
  }
  void add_pieces(record &x, std::uint32_t n) {
    std::uint32_t seen = memory.load(x.pieces);
    while (!memory.compare_exchange(x.pieces, seen, seen + n))
      continue;
  }

  store_buffers &memory;
  const bool membarrier;
  const fault wrong;
  word top, bottom; // links
  word request;
  word own_line; // for a locked instruction
  record records[places];
};

} // namespace nth::test::fork
