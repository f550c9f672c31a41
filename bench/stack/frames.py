#!/usr/bin/env python3
"""Figure 2 of "Heaps o' Stacks": the sizes of activation records of a compiler, as its functions have them and as
a run of it makes them.

  frames.py --tool NTH_STACK --out FOLDER [--program cc1]
"""
import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

import drivers
import programs
import runs
import tool

MOST, LEAST_SHARE = 10_000, 0.0001 # as the paper has it


def calls_of_functions(file):
    """-> {(object's file name, entry in it, function's name): how often it was called}, of a callgrind file whose
    names and addresses are written out (--compress-strings=no --compress-pos=no --dump-instr=yes)."""
    called = collections.Counter()
    cob = ob = cfn = ""
    with open(file, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("ob="):
                ob = cob = line[3:].strip()
            elif line.startswith("cob="):
                cob = line[4:].strip()
            elif line.startswith("cfn="):
                cfn = re.sub(r"'\d+$", "", line[4:].strip())
            elif line.startswith("calls="):
                words = line[6:].split()
                called[tool.file_of(cob), int(words[1], 0), cfn] += int(words[0])
                cob = ob # holds for one call
    return called


def shares(counter):
    total = sum(counter.values()) or 1
    return {size: n / total for size, n in sorted(counter.items()) if size <= MOST and n / total >= LEAST_SHARE}


def executed_frames(report, called):
    """-> counter of frames by size, and how many calls could be laid to a function."""
    files = {m["name"]: tool.file_of(m["path"]) for m in report["modules"]}
    by_name, by_place = {}, {}
    for f in report["functions"]:
        if f["frame"] is not None:
            module = files.get(f["module"], f["module"])
            by_name[module, f["symbol"]] = f["frame"]
            by_place[module, int(f["address"], 0)] = f["frame"]
    frames, laid = collections.Counter(), 0
    for (module, entry, name), n in called.items():
        frame = by_place.get((module, entry), by_name.get((module, name)))
        if frame is not None:
            frames[frame] += n
            laid += n
    return frames, laid


def draw(data, file):
    if (pyplot := drivers.pyplot_or_none(file)) is None:
        return
    figure, both = pyplot.subplots(2, 1, figsize=(8, 6), sharex=True, constrained_layout=True)
    for axes, key, title in zip(both, ("static", "executed"), ("of its functions", "of the calls of one run")):
        sizes = [int(s) for s in data[key]]
        axes.vlines(sizes, 0, [100 * data[key][s] for s in data[key]], color="#2f5d9b", linewidth=1.2)
        axes.set_xscale("log", base=2)
        axes.set_ylabel(f"% {title}")
        axes.set_ylim(bottom=0)
    both[1].set_xlabel("activation record, bytes")
    figure.suptitle(f"Activation records of {data['program']}")
    drivers.save(figure, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--program", default="cc1")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    p = next(p for p in programs.PROGRAMS if p.name == options.program)
    with tempfile.TemporaryDirectory() as folder:
        path, why = p.get(pathlib.Path(folder))
        if path is None:
            sys.exit(f"frames.py: {why}")
        traced, _ = runs.trace(p, path, pathlib.Path(folder))
        called = calls_of_functions(traced)
        r = tool.run(options.tool, path, "--all-modules")
    if r.report is None:
        sys.exit(f"frames.py: {r.error}")
    static = collections.Counter(f["frame"] for f in tool.own_functions(r.report) if f["frame"] is not None)
    executed, laid = executed_frames(r.report, called)
    data = {"program": p.name, "functions": sum(static.values()), "calls": sum(called.values()), "calls_laid": laid,
            "distinct_static": len(static), "distinct_executed": len(executed),
            "above_most": sum(n for s, n in static.items() if s > MOST),
            "static": shares(static), "executed": shares(executed)}
    (options.out / "figure2.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    draw(data, options.out / "figure2")
    for key, counter in (("static", static), ("executed", executed)):
        total = sum(counter.values())
        top = ", ".join(f"{size}: {100 * n / max(1, total):.1f} %" for size, n in counter.most_common(8))
        print(f"{key}: {len(counter)} sizes in {total:,}; most frequent {top}")
    print(f"{laid:,} of {sum(called.values()):,} calls were laid to a function")
    return 0


if __name__ == "__main__":
    sys.exit(main())
