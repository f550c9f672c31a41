#!/usr/bin/env python3
"""Table 3 and figure 3 of "Heaps o' Stacks": programs run under callgrind, their calls laid over the call graph.

  runs.py --tool NTH_STACK --out FOLDER [--only NAME …] [--arg=…] > TABLE.md
"""
import pathlib
import subprocess
import sys

import drivers
import programs
import tool


def trace(p, path, folder):
    """-> the file that callgrind wrote and the instructions that it counted."""
    words, stdin = programs.command_of(p, path, folder)
    out = folder / (p.name + ".callgrind")
    with open(stdin or "/dev/null", "rb") as source:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no",
                               "--compress-pos=no", "--demangle=no", f"--callgrind-out-file={out}", *words],
                              stdin=source, capture_output=True, check=False, cwd=folder)
    if not out.exists():
        raise RuntimeError(done.stderr.decode(errors="replace")[-300:])
    with open(out, encoding="utf-8", errors="replace") as file:
        totals = [line for line in file if line.startswith(("totals:", "summary:"))]
    return out, int(totals[-1].split()[1])


def measure(options, p, folder):
    path, why = p.get(folder)
    if path is None:
        return {"name": p.name, "left_out": why}
    out, instructions = trace(p, path, folder)
    r = tool.run(options.tool, path, "--all-modules", "--profile", out, *options.arg)
    if r.report is None or "profile" not in r.report:
        return {"name": p.name, "failed": f"status {r.status}: {r.error[-300:]}"}
    return {"name": p.name, "instructions": instructions, **{k: v for k, v in r.report["profile"].items()}}


def deepest(row):
    """Of a run, what its largest root allocated: main, where the program has its symbols."""
    return sorted(row.get("space", []), key=lambda s: s["allocated"])[-1:]


def print_table(rows):
    print("| program | instructions | forward calls | backward calls | indirect calls | non-zero allocations "
          "| zero allocations | outside | not in graph |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        if "forward" not in r:
            continue
        calls = max(1, r["forward"] + r["backward"] + r["indirect"])
        cells = " | ".join(f"{r[k]:,} ({100 * r[k] / calls:.0f} %)" for k in ("forward", "backward", "indirect"))
        print(f"| {r['name']} | {r['instructions']:,} | {cells} | {r['non_zero_allocations']:,} "
              f"| {r['zero_allocations']:,} | {r['outside']:,} | {r['not_in_graph']:,} |")
    print("\n| program | from | allocated, bytes | needed, bytes | needed |")
    print("|---|---|---|---|---|")
    for r in rows:
        for s in deepest(r):
            share = 100 * s["needed"] / max(1, s["allocated"])
            print(f"| {r['name']} | {s['root']} | {'≥ ' if s['at_least'] else ''}{s['allocated']:,} "
                  f"| {s['needed']:,} | {share:.0f} % |")
    for r in rows:
        if "forward" not in r:
            print(f"\nLeft out: {r['name']}: {r.get('left_out') or r['failed']}")


def draw(rows, file):
    if (pyplot := drivers.pyplot_or_none(file)) is None:
        return
    shown = [(r["name"], s) for r in rows for s in deepest(r)]
    if not shown:
        return
    names = [name for name, _ in shown]
    figure, axes = pyplot.subplots(figsize=(8, 4.5), constrained_layout=True)
    axes.bar(names, [s["allocated"] for _, s in shown], color="#c6cedb", label="allocated")
    axes.bar(names, [s["needed"] for _, s in shown], color="#2f5d9b", label="needed of it")
    axes.set_yscale("log")
    axes.set_ylabel("bytes on the deepest path")
    axes.tick_params(axis="x", rotation=45)
    axes.legend(frameon=False)
    drivers.save(figure, file)


if __name__ == "__main__":
    sys.exit(drivers.run(__doc__, measure, print_table, draw, "runs.json", "figure3"))
