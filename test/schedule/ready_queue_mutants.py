#!/usr/bin/env python3
"""ready_queue_mutants.py <src> <output>: the sources of the ready queue, copied to be driven by seed: once as
they are, in namespace nth::mutant::none, and once with each fault, in a namespace named for it.

What the copies do not take over: sizes, which are made small here, so that few threads fill many blocks; the
atomic type and the fields of windows, whose every use is a step; and the operating system, memory and sleep,
for which ready_queue_fakes.hpp stands. Each copy ends with the harness, ready_queue_world.hpp."""

import os
import re
import sys

from mutants import with_fault

# (file, its text from here, up to there)
PIECES = [
    ("memory/block.hpp", "constexpr std::uint32_t block_size", "// Empty blocks:"),
    ("thread/block_ring.hpp", "template <class Item", "} // namespace nth::detail"),
    (None, "ready_queue_fakes.hpp", ""),
    ("thread/worker.hpp", "// A block that is being filled", "// ---- Who runs here"),
    ("thread/worker.hpp", "// ---- The private part", "} // namespace nth::detail"),
    ("thread/ready.hpp", "// ---- slow paths", "} // namespace nth::detail"),
    ("thread/ready.cpp", "// ---- Blocks", "} // namespace nth::detail"),
    ("thread/ends.cpp", "namespace {\n\nvoid set_ready", "} // namespace nth::detail"),
    ("thread/steal.cpp", "bool one_sided_barrier", "} // namespace nth::detail"),
]

# (text, in its place): each must occur once.
CHANGES = [
    ("constexpr std::uint32_t block_size = 64;", "constexpr std::uint32_t block_size = 4;"),
    ("constexpr std::uint32_t few_threads = 4;", "constexpr std::uint32_t few_threads = 1;"),
    ("constexpr std::uint32_t inbox_period = 61;", "constexpr std::uint32_t inbox_period = 7;"),
    ("ring.capacity() == 0 ? 256 :", "ring.capacity() == 0 ? 2 :"),
    ("spins > 2000", "spins > 40"),
    ("  block *next; // link", "  watched<block *> next; // link"),
    ("alignas(64) nth_desc *slot[block_size];", "checked_slots slot;"),
    ("  block *b{nullptr};\n  std::uint32_t lo{0};\n  std::uint32_t hi{0};\n",
     "  watched<block *> b{nullptr};\n  watched<std::uint32_t> lo{0};\n  watched<std::uint32_t> hi{0};\n"),
    ("from.hi - give : from.lo;", "from.hi - give : std::uint32_t{from.lo};"),
    ("void accept_block(worker *w, block *b) noexcept {\n", "void accept_block(worker *w, block *b) noexcept {\n  arrived(w, b);\n"),
]

FAULTS = {
    # worker.hpp
    "looks_before_busy": (
        """  w->busy.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return w->request.load(std::memory_order_acquire) == request_idle;
""",
        """  const bool idle = w->request.load(std::memory_order_acquire) == request_idle;
  w->busy.store(1, std::memory_order_relaxed);
  return idle;
"""),
    # ready.cpp
    "full_window_dropped": (
        "  if (f.b != nullptr)\n    push_ring_or_spare(w, w->front_ring, close(f));\n  f = {fresh",
        "  f = {fresh"),
    "full_window_to_the_other_ring": (
        "  if (f.b != nullptr)\n    push_ring_or_spare(w, w->front_ring, close(f));\n  f = {fresh",
        "  if (f.b != nullptr)\n    push_ring_or_spare(w, w->back_ring, close(f));\n  f = {fresh"),
    "bounds_not_closed": ("  b->lo = w.lo;\n  b->hi = w.hi;\n", "  b->lo = 0;\n  b->hi = block_size;\n"),
    "back_window_moves_down_half": ("    b.hi -= b.lo;\n    b.lo = 0;\n", "    b.lo = 0;\n"),
    "oldest_of_the_front_ring": ("w->front_ring.pop()", "w->front_ring.steal()"),
    "youngest_of_the_back_ring": ("(old = w->back_ring.steal()) == nullptr", "(old = w->back_ring.pop()) == nullptr"),
    "back_window_before_its_ring": (
        "while (w->back_ring.length() > 0 &&", "while (w->own.back.empty() && w->back_ring.length() > 0 &&"),
    "arrivals_youngest_first": (
        "oldest_first(w->inbox.exchange(nullptr, std::memory_order_acquire))",
        "w->inbox.exchange(nullptr, std::memory_order_acquire)"),
    "few_arrivals_turned": (
        "for (std::uint32_t i = b->hi; i > b->lo; --i)\n          f.b->slot[--f.lo] = b->slot[i - 1];",
        "for (std::uint32_t i = b->lo; i < b->hi; ++i)\n          f.b->slot[--f.lo] = b->slot[i];"),
    "open_window_lost_to_arrivals": (
        "    push_ring_or_spare(w, w->back_ring, close(k));\n    k.b = nullptr;\n", "    k.b = nullptr;\n"),
    "inbox_emptied_by_a_store": (
        "  block *oldest = oldest_first(w->inbox.exchange(nullptr, std::memory_order_acquire));\n",
        "  block *oldest = oldest_first(w->inbox.load(std::memory_order_acquire));\n"
        "  w->inbox.store(nullptr, std::memory_order_relaxed);\n"),
    "sent_by_a_store": (
        "  } while (\n      !to->inbox.compare_exchange_weak(head, youngest, std::memory_order_seq_cst, std::memory_order_relaxed));\n",
        "  } while (false);\n  to->inbox.store(youngest, std::memory_order_release);\n"),
    "other_end_in_one_block": ("if (o.b != nullptr && o.b->end != end) [[unlikely]] {", "if (false) {"),
    "spare_threads_forgotten": ("    w->own.spare = d->next;\n      return d;\n", "    w->own.spare = nullptr;\n      return d;\n"),
    # ends.cpp
    "posted_ends_kept": ("    p.ended_of = nullptr;\n    lower(w, s, p.ended_count);", "    lower(w, s, p.ended_count);"),
    # steal.cpp
    "half_given_and_kept": ("    from.hi -= give;\n", "    from.hi -= 0;\n"),
    "older_half_of_the_back_kept": ("k.empty() ? from.hi - give : std::uint32_t{from.lo};", "from.hi - give;"),
    "owner_does_not_wait": ("    if (who == request_locked) {", "    if (who == request_locked)\n      return;\n    if (false) {"),
    "owner_answers_without_cas": (
        """    if (!w->request.compare_exchange_strong(r, (r & request_kept) | request_answering,
                                            std::memory_order_acquire))
      continue;
""",
        ""),
    "no_barrier": ("  if (one_sided_barrier)\n    os::barrier_all();\n", ""),
    "no_wait_for_busy": ("victim->busy.load(std::memory_order_acquire) != 0", "false"),
    "another_ones_ask": (
        "    if ((r & ~request_kept) != ask_of(w->id))\n      return false;\n  } while",
        "    if (w == nullptr || (r & request_mask) != request_asked)\n      return false;\n  } while"),
    "loot_left_there": ("    p = {};\n", "    p.ended_of = nullptr;\n"),
    "outgoing_not_sent_before_looting": ("    flush_outgoing(victim);\n", ""),
    "ends_not_looted": ("  if (loot.ended_of != nullptr)\n    lower(w, loot.ended_of, loot.ended_count);\n", ""),
    "unlocked_before_the_loot": (
        "  if (any) {\n    flush_outgoing(victim);\n",
        "  victim->request.fetch_and(request_kept, std::memory_order_release);\n"
        "  if (any) {\n    flush_outgoing(victim);\n"),
    "inbox_of_another_read": (
        "  block *youngest = victim->inbox.exchange(nullptr, std::memory_order_acquire);\n",
        "  block *youngest = victim->inbox.load(std::memory_order_acquire);\n"
        "  victim->inbox.store(nullptr, std::memory_order_relaxed);\n"),
    "spare_threads_not_looted": ("{loot.spare, loot.spare_back}", "{loot.spare}"),
    "spare_blocks_not_looted": ("for (block *b = loot.spare_blocks; b != nullptr;)", "for (block *b = nullptr; b != nullptr;)"),
    # The owner's fence where there is no membarrier(2): with "_fenced", the harness runs without.
    "owners_exchange_fenced": ("      w->busy.exchange(1, std::memory_order_seq_cst);\n      continue;\n", "      continue;\n"),
}


def main():
    source, output = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    body = ""
    for name, begin, end in PIECES:
        if name is None:
            body += f'#include "{begin}"\n\n'
            continue
        with open(os.path.join(source, name), encoding="utf-8") as file:
            text = file.read()
        first = text.index(begin)
        body += text[first:text.index(end, first)] + "\n"
    body = re.sub(r"static_assert\([^;]*\);\n", "", body)
    body = body.replace("std::atomic<", "stepping<").replace("= std::atomic>", "= stepping>")
    for right, changed in CHANGES:
        body = with_fault(body, right, right, changed, source)

    parts = ["// Generated by ready_queue_mutants.py.\n#pragma once\n"]
    for name, (right, wrong) in {"none": ("", ""), **FAULTS}.items():
        copy = body if name == "none" else with_fault(body, name, right, wrong, source)
        parts.append(f"\nnamespace nth::mutant::{name} {{\nusing namespace nth::test::ready_queue;\n{copy}"
                     f'#include "ready_queue_world.hpp"\n}} // namespace nth::mutant::{name}\n')
    parts.append("\n#define NTH_READY_QUEUE_MUTANTS(m) " + " ".join(f"m({name})" for name in FAULTS) + "\n")
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(parts))


main()
