#!/usr/bin/env python3
"""mutants.py <block_ring.hpp> <output>: copies of the ring, each with one fault, in a namespace named for it.

The test that drives the ring by seed must find each of them. A fault names the text that it replaces, which
must occur once: when the ring is rewritten, so is this list."""

import re
import sys

FAULTS = {
    "last_item_without_cas": (
        """      if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        item = nullptr;
""",
        "      top.store(t + 1, std::memory_order_seq_cst);\n"),
    "owner_takes_last_item_as_any_other": (
        "    if (t == b) {",
        "    if (t > b) {"),
    "bottom_written_after_top_is_read": (
        """    bottom.store(b, std::memory_order_seq_cst); // before top is read: see the argument
    std::int64_t t = top.load(std::memory_order_seq_cst);
""",
        """    std::int64_t t = top.load(std::memory_order_seq_cst);
    bottom.store(b, std::memory_order_seq_cst);
"""),
    "steal_without_cas": (
        """    if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
      return nullptr;
    return item;
""",
        "    top.store(t + 1, std::memory_order_seq_cst);\n    return item;\n"),
    "thief_reads_bottom_first": (
        """    std::int64_t t = top.load(std::memory_order_seq_cst);
    const std::int64_t b = bottom.load(std::memory_order_seq_cst);
""",
        """    const std::int64_t b = bottom.load(std::memory_order_seq_cst);
    std::int64_t t = top.load(std::memory_order_seq_cst);
"""),
    "one_item_too_many": (
        "b - top.load(std::memory_order_acquire) > a->mask)",
        "b - top.load(std::memory_order_acquire) > a->mask + 1)"),
    "bottom_published_before_item": (
        """    a->slot[b & a->mask].store(item, std::memory_order_relaxed);
""",
        """    bottom.store(b + 1, std::memory_order_release);
    a->slot[b & a->mask].store(item, std::memory_order_relaxed);
"""),
    "array_published_before_it_is_filled": (
        "    larger->mask = capacity - 1;\n    array *old = items.load(std::memory_order_relaxed);\n",
        """    larger->mask = capacity - 1;
    array *old = items.load(std::memory_order_relaxed);
    items.store(larger, std::memory_order_release);
"""),
    "bottom_not_restored_when_empty": (
        "      bottom.store(b + 1, std::memory_order_relaxed);\n      return nullptr;\n",
        "      return nullptr;\n"),
}


def with_fault(body, name, right, wrong, source):
    if body.count(right) != 1:
        sys.exit(f"{sys.argv[0]}: fault {name}: its text occurs {body.count(right)} times in {source}")
    return body.replace(right, wrong)


def main():
    source, output = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("namespace nth::detail {"):]
    parts = ["// Generated from block_ring.hpp: one fault a namespace.\n#pragma once\n"]
    parts += [line + "\n" for line in text.splitlines() if line.startswith("#include <")]
    for name, (right, wrong) in FAULTS.items():
        copy = with_fault(body, name, right, wrong, source)
        parts.append("\n" + re.sub(r"\bnth::detail\b", f"nth::mutant::{name}", copy))
    parts.append("\n#define NTH_MUTANTS(m) " + " ".join(f"m({name})" for name in FAULTS) + "\n")
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(parts))


if __name__ == "__main__":
    main()
