#!/usr/bin/env python3
"""Registers that live where threads are suspended, and instructions of a switch (doc/measurements-small-stacks.md).

  switches.py [--build build/release]

Needs the release preset, built, and valgrind.
"""
import argparse
import json
import pathlib
import re
import tempfile

import program_files as files

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TURNS = 100000


def instructions(program, turns):
    said = files.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, turns],
                     env={**files.environment("lua", 1024), "NTH_SPIN_US": "0"}).stderr
    # A child that looks whether pages fault says a number too, a smaller one.
    return max(int(n.replace(",", "")) for n in re.findall(r"I\s+refs:\s+([\d,]+)", said))


def of_a_switch(build, folder, defines):
    program = pathlib.Path(folder, "yields")
    files.run(["gcc", "-O2", *(f"-D{d}" for d in defines), f"-I{PROJECT / 'include'}", files.SOURCES / "yields.c",
               pathlib.Path(build, "src", "libnth.a"), "-lhwloc", "-lpthread", "-o", program])
    return (instructions(program, 1000 + TURNS) - instructions(program, 1000)) / (2 * TURNS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build" / "release")
    build = parser.parse_args().build
    print("| program | caller | own | live |\n|---|---|---|---|")
    for name in ("sor", "mp3d", "ocean"):
        for s in json.loads((build / "bench" / f"heaps_{name}_small.json").read_text())["suspending"]:
            print(f"| {name} | {s['caller']} | {s['own']} | {s['live']} |")
    print("\n| | nothing lives in the loop | five variables do |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, defines in (("nth_yield", []), ("nth_yield_inline", ["INLINE"])):
            print(f"| `{name}` | {of_a_switch(build, folder, defines):.1f} | {of_a_switch(build, folder, [*defines, 'LIVE']):.1f} |")


if __name__ == "__main__":
    main()
