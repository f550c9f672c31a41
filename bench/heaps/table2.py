#!/usr/bin/env python3
"""Table 2 of "Heaps o' Stacks": parallel programs on stacks of 64 KiB and on small ones.

  table2.py [--build build/release] [--out table2.json] [--only sor mp3d ocean] [--threads 4 64 128] > TABLE.md

Each run is traced whole, by lackey, between the creation of its threads and the end of the last one; fewer steps than the
paper's, on data of its size. Needs the release preset, built, and valgrind.
"""
import argparse
import json
import pathlib
import sys
import time

import binaries
import machine
import paper
import traces

PROJECT = pathlib.Path(__file__).resolve().parents[2]

# Steps that are run, those of the paper's run (its context switches over our barriers), and sizes beside the own one.
PLANS = {"sor": (40, "1,000, with 128 threads 8,000", (None, 144)),
         "mp3d": (30, "1,200 to 1,500", (None, 1800)),
         "ocean": (2, "about 12", (None,))}


def measure(options, program, size, threads, kind):
    """-> one half of a row"""
    binary = binaries.make(options.build, program, kind)
    steps = options.steps or PLANS[program][0]
    command = traces.command_of(binary, threads, steps, size)
    traces.native(command)  # its result is compared with the sequential run's
    said, trace = traces.traced(options.build, binary, command, options.caches, options.tlbs)
    each = [traces.instructions(traces.command_of(binary, threads, n, size)) for n in (steps, 2 * steps)] \
        if options.callgrind else None
    return {"kind": kind, "how": binary.how, "need": binary.need, **said, "trace": trace,
            "instructions_per_switch": trace["instructions"] / said["switches"],
            "instructions_by_callgrind": each[1] - each[0] if each else None}


def room(options, program, kind):
    """Memory of a thread among many, all blocked at one time."""
    binary = binaries.make(options.build, program, kind)
    said = traces.native(traces.command_of(binary, options.many, 1, 64, ["--unchecked"]))
    resident = said["resident_bytes"] / options.many
    return {"program": program, "kind": kind, "threads": options.many, "need": binary.need, "stack_bytes": said["stack_bytes"],
            "resident_bytes": resident, "fit_by_stack": options.limit // (said["stack_bytes"] + 64),
            "fit_by_resident": int(options.limit / resident)}


def of(row, kind, memory, name, key):
    return next(m for m in row[kind]["trace"][memory] if m["name"] == name)[key]


def cells(row, name):
    """Load misses of the cache and misses of the TLB of one machine, on both kinds of stacks."""
    found = []
    for kind in binaries.KINDS:
        found.append(f"{100 * of(row, kind, 'caches', name, 'load_miss_rate'):.2f} %")
        found.append(f"{of(row, kind, 'tlbs', name, 'misses'):,} ({100 * of(row, kind, 'tlbs', name, 'miss_rate'):.2f} %)")
    return " | ".join(found)


HEAD = ("| program | data | threads | context switches | instructions a switch | 64 KiB: load misses | TLB misses "
        "| small: load misses | TLB misses | TLB misses 64 KiB ÷ small |\n|---|---|---|---|---|---|---|---|---|---|")


def print_of_paper():
    print(f"The paper's:\n\n{HEAD}")
    for program, rows in paper.TABLE_2.items():
        for threads, (switches, each, large, small) in rows.items():
            print(f"| {paper.NAMES[program]} | {'≈ 4 MB' if program == 'ocean' else '≈ 256 KB'} | {threads} | {switches:,} "
                  f"| {each:,} | {large[0]:.2f} % | {large[1]:,} ({large[2]:.2f} %) | {small[0]:.2f} % "
                  f"| {small[1]:,} ({small[2]:.2f} %) | {large[1] / small[1]:.1f} |")


def print_table(rows, name, text):
    print(f"\n{text}\n\n{HEAD}")
    for row in rows:
        large, small = (row[kind] for kind in binaries.KINDS)
        ratio = of(row, "64K", "tlbs", name, "misses") / max(1, of(row, "small", "tlbs", name, "misses"))
        print(f"| {paper.NAMES[row['program']]} | {large['data_bytes'] / 1024:,.0f} KiB | {row['threads']} | {large['switches']:,} "
              f"| {large['instructions_per_switch']:,.0f}, {small['instructions_per_switch']:,.0f} | {cells(row, name)} | {ratio:.1f} |")


def print_room(spaces, limit):
    print(f"\n| program | stacks | need | paper's, instrumented | stack, bytes | resident, bytes a thread "
          f"| threads in {limit >> 20} MiB by stacks | by resident memory |\n|---|---|---|---|---|---|---|---|")
    for s in spaces:
        of_paper = "64K" if s["kind"] == "64K" else "{}, {:,}".format(*paper.STACK[s["program"]])
        print(f"| {paper.NAMES[s['program']]} | {s['kind']} | {s['need'] or ''} | {of_paper} | {s['stack_bytes']:,} "
              f"| {s['resident_bytes']:,.0f} | {s['fit_by_stack']:,} | {s['fit_by_resident']:,} |")


def print_callgrind(rows):
    print("\nInstructions of all steps: by the trace, with the threads' creation and end; by callgrind, of twice as many steps "
          "less those of one:\n\n| program | threads | 64 KiB: trace | callgrind | small: trace | callgrind |\n|---|---|---|---|---|---|")
    for row in rows:
        pairs = " | ".join(f"{row[k]['trace']['instructions']:,} | {row[k]['instructions_by_callgrind']:,}" for k in binaries.KINDS)
        print(f"| {paper.NAMES[row['program']]} | {row['threads']} | {pairs} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build" / "release")
    parser.add_argument("--out", type=pathlib.Path, help="all figures, as JSON")
    parser.add_argument("--only", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--threads", nargs="+", type=int, default=[4, 64, 128])
    parser.add_argument("--steps", type=int, help="in place of each program's own number")
    parser.add_argument("--cache", default=machine.data_cache(), help="the present machine's, name 'now': %(default)s")
    parser.add_argument("--tlb", default="now:64:4:4K", help="the present machine's, name 'now': %(default)s; no file tells of it")
    parser.add_argument("--many", type=int, default=16384, help="threads by which memory is measured; 0: it is not")
    parser.add_argument("--limit", type=int, default=64 << 20, help="bytes for the threads that fit: %(default)s")
    parser.add_argument("--callgrind", action="store_true", help="count instructions by callgrind too")
    options = parser.parse_args()
    if options.cache is None:
        parser.error("the kernel does not tell of the data cache: give --cache now:SIZE:WAYS:LINE")
    options.caches, options.tlbs = [paper.CACHE, options.cache], [paper.TLB, options.tlb]
    return options


def main():
    options = arguments()
    begin, rows, spaces = time.monotonic(), [], []
    for program in options.only:
        for size in PLANS[program][2]:
            for threads in options.threads:
                row = {"program": program, "threads": threads}
                for kind in binaries.KINDS:
                    row[kind] = measure(options, program, size, threads, kind)
                rows.append(row)
                print(f"{time.monotonic() - begin:4.0f} s: {program} {size or ''}, {threads} threads", file=sys.stderr)
        if options.many:
            spaces += [room(options, program, kind) for kind in binaries.KINDS]
    if options.out:
        options.out.write_text(json.dumps({"machine": machine.model(), "caches": options.caches, "tlbs": options.tlbs,
                                           "rows": rows, "space": spaces}, indent=1) + "\n", encoding="utf-8")
    print_of_paper()
    print_table(rows, "alpha", f"nth, the paper's memory: cache {paper.CACHE}, TLB {paper.TLB}. Instructions a switch on stacks "
                "of 64 KiB, and on small ones:")
    print_table(rows, "now", f"nth, the present machine's: cache {options.cache}, TLB {options.tlb}:")
    print("\nSteps run, and steps of the paper's: " + "; ".join(
        f"{paper.NAMES[p]} {options.steps or PLANS[p][0]}, {PLANS[p][1]}" for p in options.only))
    if spaces:
        print_room(spaces, options.limit)
    if options.callgrind:
        print_callgrind(rows)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"table2.py: {error}")
