#!/usr/bin/env python3
"""What small stacks cost whole programs, in instructions, and what they save in memory.

  programs.py [--build build/release] [--out programs.json] [--only lua …] [--segments 8192 1024] > TABLES.md

Static programs of programs/, one thread on one worker, by callgrind: a run that works less one that does not. Needs the release
preset, built, and valgrind.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

import machine
import program_files as files

PROJECT = pathlib.Path(__file__).resolve().parents[2]
MEASURED = ("lua", "sqlite", "expat", "gmp", "lapack", "objects")
SIZE = {"lapack": 20}  # times its work, else 1
WAYS = ("none", "static", "measured")  # profiles that the planner was given
DEPTHS = {1: 2000, 4: 2000, 16: 2000, 64: 1000, 1000: 60, 10000: 10}  # turns


def instructions(program, name, segment, words):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        env = {**files.environment(name, segment), "NTH_SPIN_US": "0"}
        files.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, *words], env=env)
        return int(re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.MULTILINE).group(1))


def profile_of(build, folder, name):
    """-> a profile of the plain program at its work"""
    program = files.make(build, folder, name, True, files.PLAIN)
    profile = pathlib.Path(folder, f"{name}.profile")
    files.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={profile}", program, 1, 1,
               SIZE.get(name, 1)], env={**files.environment(name, files.PLAIN), "NTH_SPIN_US": "0"})
    return profile


def cost(build, folder, name, segment, way="none"):
    """-> instructions of the work alone and of the whole run, and what the run says of its stacks"""
    profile = {"none": None, "static": "static"}.get(way) or (profile_of(build, folder, name) if way == "measured" else None)
    program = files.make(build, folder, name, True, segment, [f"--nth-profile={profile}"] if profile else [])
    size = SIZE.get(name, 1)
    idle, whole = (instructions(program, name, segment, (1, 1, n)) for n in (0, size))
    return {"work": whole - idle, "whole": whole, "stacks": files.says(program, name, segment, 1, 1, size)[1]}


def memory(build, folder, segment, count, depth):
    program = files.make(build, folder, "interpreters", True, segment)
    env = files.environment("interpreters", segment)
    if segment == files.PLAIN:
        env["NTH_STACK_SIZE"] = "64K"
    return json.loads(files.run([program, count, 2, depth], env=env).stdout)


def edges(build, folder, segment, depth, turns):
    """-> the cost against plain of a loop that calls a recursion of `depth`, for each place of the loop in a stack"""
    plain, small = (files.make(build, folder, "edge", True, s) for s in (files.PLAIN, segment))
    found = []
    for above in (0, 2, 4, 6, 8, 10, 12, 16):
        counts = [instructions(p, "edge", s, (depth, turns, above)) - instructions(p, "edge", s, (depth, 0, above))
                  for p, s in ((plain, files.PLAIN), (small, segment))]
        stacks = files.says(small, "edge", segment, depth, turns, above)[1]
        found.append({"above": above, "plain": counts[0] / turns, "small": counts[1] / turns,
                      "switches": stacks["segments_switched"] / turns})
    return found


def print_costs(rows, segments):
    print("| program | plain, instructions of its work | profile |" + "".join(
        f" {s}: more | starts on | switches | segments, bytes at most |" for s in segments))
    print("|---|---|---|" + "---|---|---|---|" * len(segments))
    for name, row in rows.items():
        plain = row[files.PLAIN]["work"]
        for way in WAYS:
            cells = []
            for s in segments:
                found = row[f"{s} {way}"]
                stacks = found["stacks"]
                cells.append(f" {100 * (found['work'] - plain) / plain:.2f} % | {stacks['root_most']:,} "
                             f"| {stacks['segments_switched']:,} | {stacks['segments_most']:,} |")
            print(f"| {name} | {plain:,} | {way} |" + "".join(cells))


def print_memory(rows):
    print("\n| blocked in | stacks | interpreters | thread starts on | segments, bytes at most | resident, bytes each |\n"
          "|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['where']} | {r['kind']} | {r['interpreters']:,} | {r.get('root_most', 0):,} | {r.get('segments_most', 0):,} "
              f"| {r.get('resident_bytes', r.get('state_bytes')):,} |")


def print_edges(found, segment):
    print(f"\nWith --nth-segment={segment}:\n\n| depth | plain, instructions a turn | more a turn: least | most | switches a turn, there | "
          "places of 8 with a switch |\n|---|---|---|---|---|---|")
    for depth, places in found.items():
        worst = max(places, key=lambda p: p["small"] - p["plain"])
        least = min(p["small"] / p["plain"] - 1 for p in places)
        print(f"| {depth} | {worst['plain']:.0f} | {100 * least:.1f} % | {100 * (worst['small'] / worst['plain'] - 1):.1f} % "
              f"| {worst['switches']:.2f} | {sum(p['switches'] >= 0.5 for p in places)} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build" / "release")
    parser.add_argument("--out", type=pathlib.Path, help="all figures, as JSON")
    parser.add_argument("--only", nargs="+", default=list(MEASURED), choices=list(MEASURED))
    parser.add_argument("--segments", nargs="+", type=int, default=[8192, 1024])
    parser.add_argument("--interpreters", type=int, default=10000, help="0: none")
    parser.add_argument("--no-edges", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    result = {"machine": machine.model(), "cores": os.cpu_count(), "programs": {}, "memory": [], "edges": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            row = {f"{s} {way}": cost(options.build, folder, name, s, way) for s in options.segments for way in WAYS}
            result["programs"][name] = {files.PLAIN: cost(options.build, folder, name, files.PLAIN), **row}
        if options.interpreters:
            for depth in (-1, 0, 3, 12):
                for segment in (files.PLAIN, 1024)[:1 if depth < 0 else 2]:
                    row = memory(options.build, folder, segment, options.interpreters, depth)
                    row["where"] = "no thread" if depth < 0 else f"{depth} calls of Lua, C, Lua"
                    row["kind"] = "64 KiB" if segment == files.PLAIN else f"--nth-segment={segment}"
                    result["memory"].append(row)
        if not options.no_edges:
            result["edges"] = {d: edges(options.build, folder, 1024, d, turns) for d, turns in DEPTHS.items()}
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print_costs(result["programs"], options.segments)
    if result["memory"]:
        print_memory(result["memory"])
    if result["edges"]:
        print_edges(result["edges"], 1024)


if __name__ == "__main__":
    try:
        main()
    except files.failed as error:
        sys.exit(f"programs.py: {error}")
