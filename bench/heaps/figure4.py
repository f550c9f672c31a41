#!/usr/bin/env python3
"""Figure 4 of "Heaps o' Stacks": instructions of programs whose activation records are allocated, over those of the program
as it is.

  figure4.py --tool NTH_STACK --out FOLDER [--only NAME …] > TABLE.md

Computed, as the paper did, from counts of one run under callgrind:
  each call    every call of a function with a frame pays SLOW or FAST instructions in place of STACK
  combined     only calls through stubs, which are those on back edges and through pointers, pay SLOW or FAST on top
Measured, where it can be:
  split-stack  the program's own source compiled by -fsplit-stack; libraries, and what they do, stay as they are
What programs that are linked for small stacks take more, in threads, is measured by programs.py.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stack"))
import drivers  # noqa: E402  bench/stack: where it is has just been said
import frames  # noqa: E402
import programs  # noqa: E402
import runs  # noqa: E402
import tool  # noqa: E402

SLOW, FAST = 22, 8 # to allocate and to release, section 5.2
STACK = 2          # what a stack takes of each call, ibidem
RETURN_ADDRESS = 8 # the frame of a function that takes no more

COLUMNS = ("each_slow", "each_fast", "combined_slow", "combined_fast", "split_stack")


def computed(instructions, allocating, stubs):
    """-> the paper's four values: instructions over those of the program as it is."""
    return {"each_slow": 1 + allocating * (SLOW - STACK) / instructions,
            "each_fast": 1 + allocating * (FAST - STACK) / instructions,
            "combined_slow": 1 + stubs * SLOW / instructions,
            "combined_fast": 1 + stubs * FAST / instructions}


def counts_of(options, path, traced):
    """-> calls of functions with frames, calls in all, those whose function is known, and calls through stubs to functions that
    need storage."""
    report = tool.run(options.tool, path, "--all-modules", "--profile", traced, *options.arg)
    if report.report is None or "profile" not in report.report:
        raise RuntimeError(f"status {report.status}: {report.error[-300:]}")
    called = frames.calls_of_functions(traced)
    executed, laid = frames.executed_frames(report.report, called)
    allocating = sum(n for frame, n in executed.items() if frame > RETURN_ADDRESS)
    return allocating, sum(called.values()), laid, report.report["profile"]["non_zero_allocations"]


def output_of(p, path, folder):
    words, stdin = programs.command_of(p, path, folder)
    with open(stdin or "/dev/null", "rb") as source:
        done = subprocess.run(words, stdin=source, capture_output=True, check=False, cwd=folder)
    return done.returncode, done.stdout


def ratio(p, path, other, folder, instructions):
    """-> instructions of the same run by another file of the program over those of `path`; None and why there are none."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = pathlib.Path(name)
        if (found := output_of(p, other, place)) != output_of(p, path, place):
            return None, f"it ends with {found[0]}, or its output is not the program's"
        return runs.trace(p, other, place)[1] / instructions, ""


def split(p, folder):
    """-> the program built from its own source by -fsplit-stack; None and why not. gold is the linker that knows it: it has
    functions call for more where their callees, in libraries, do not look."""
    if p.build is None:
        return None, "its source is not ours"
    place = folder / "split"
    place.mkdir(exist_ok=True)
    return programs.program(p.name, p.kind, p.what, build=[*p.build, "-fsplit-stack", "-fuse-ld=gold"], needs=p.needs).get(place)


def measure(options, p, folder):
    path, why = p.get(folder)
    if path is None:
        return {"name": p.name, "left_out": why}
    traced, instructions = runs.trace(p, path, folder)
    allocating, calls, laid, stubs = counts_of(options, path, traced)
    row = {"name": p.name, "what": p.what, "instructions": instructions, "calls": calls, "calls_laid": laid,
           "allocating": allocating, "stubs": stubs, **computed(instructions, allocating, stubs)}
    row["split_stack"] = None
    other, row["no_split_stack"] = split(p, folder)
    if other:
        row["split_stack"], row["no_split_stack"] = ratio(p, path, other, folder, instructions)
    return row


def value(row, column):
    return "" if row[column] is None else f"{row[column]:.3f}"


def print_table(rows):
    print("| program | what | instructions | calls, laid to a function | of functions with frames | through stubs, with storage "
          "| each call, slow | each call, fast | combined, slow | combined, fast | split-stack |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        if "calls" in r:
            print(f"| {r['name']} | {r['what']} | {r['instructions']:,} | {r['calls']:,}, {100 * r['calls_laid'] / max(1, r['calls']):.0f} % "
                  f"| {r['allocating']:,} | {r['stubs']:,} | {' | '.join(value(r, c) for c in COLUMNS)} |")
    for r in rows:
        if "calls" not in r:
            print(f"\nLeft out: {r['name']}: {r.get('left_out') or r['failed']}")
            continue
        if r.get("no_split_stack"):
            print(f"\nNo split-stack: {r['name']}: {r['no_split_stack']}")


def draw(rows, file):
    if (pyplot := drivers.pyplot_or_none(file)) is None:
        return
    shown = [r for r in rows if "calls" in r]
    figure, axes = pyplot.subplots(figsize=(9, 4.5), constrained_layout=True)
    width = 0.8 / len(COLUMNS)
    for i, column in enumerate(COLUMNS):
        places = [(at + i * width, r[column] - 1) for at, r in enumerate(shown) if r[column] is not None]
        axes.bar([x for x, _ in places], [100 * y for _, y in places], width, label=column.replace("_", " "))
    axes.set_xticks([at + 0.4 for at in range(len(shown))], [r["name"] for r in shown], rotation=45)
    axes.set_ylabel("instructions more, %")
    axes.legend(frameon=False)
    drivers.save(figure, file)


if __name__ == "__main__":
    sys.exit(drivers.run(__doc__, measure, print_table, draw, "figure4.json", "figure4"))
