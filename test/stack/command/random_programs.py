#!/usr/bin/env python3
"""random_programs.py NTH-STACK [PROGRAMS]   no need that nth-stack gives is ever exceeded

Makes random programs (generate.py), compiled and linked in all usual ways, runs each of their functions on a painted
stack, and compares. A function without recursion and pointers beneath it must be proved, and nearly to the byte.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import generate

COMPILE = [["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-Os"], ["-O2", "-flto"], ["-O2", "-fno-plt"],
           ["-O2", "-ffunction-sections", "-Wl,--gc-sections"], ["-O2", "-fno-omit-frame-pointer"],
           ["-O2", "-mno-red-zone"], ["-O2", "-fcf-protection=full"], ["-O2", "-fstack-clash-protection"],
           ["-O2", "-fstack-protector-all"], ["-O3", "-march=x86-64-v3"], ["-O2", "-g"]]
LINK = [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"], ["-static", "-no-pie"], ["-static-pie", "-fPIE"],
        ["-pie", "-fPIE", "-Wl,-q"], ["-no-pie", "-fno-pie", "-Wl,-q"], ["-pie", "-fPIE", "-fuse-ld=gold"],
        ["-no-pie", "-fno-pie", "-fuse-ld=gold"], ["-pie", "-fPIE", "-fuse-ld=lld"],
        ["-pie", "-fPIE", "-Wl,-z,lazy"]]
# The compiler sees these programs whole; what it inlines or clones is found by symbols all the same.
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
# Of needs over marks, in the median: need is stated for any alignment of the stack, the run has one.
SLACK = 1.1
LEAST_PROVED = 0.95


def has_linker(flags):
    wanted = [f.split("=")[1] for f in flags if f.startswith("-fuse-ld=")]
    return all(shutil.which(f"ld.{name}") for name in wanted)


def marks_of(program):
    text = subprocess.run([program], capture_output=True, text=True, timeout=120, check=True).stdout
    return {name: int(mark) for name, mark in (line.split() for line in text.splitlines())}


def needs_of(tool, program, report):
    run = subprocess.run([tool, "report", program, "--json", report], capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        sys.exit(f"nth-stack ended with {run.returncode}: {run.stderr}")
    with open(report, encoding="utf-8") as file:
        return {f["symbol"]: f for f in json.load(file)["functions"]}


def main():
    tool = os.path.abspath(sys.argv[1])
    programs = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    here = os.path.dirname(os.path.abspath(__file__))
    failures, ratios, compared = [], [], {"proved": 0, "assumed": 0, "unbounded": 0}
    simple, missed = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(programs):
            compiler = COMPILERS[seed % len(COMPILERS)]
            flags = COMPILE[seed // 2 % len(COMPILE)] + LINK[seed // 3 % len(LINK)]
            if not has_linker(flags) or (compiler == "clang" and "-flto" in flags):
                flags = ["-O2"]
            recursion, pointers = seed % 3 == 0, seed % 3 != 1
            source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
            made = generate.Program(seed, recursion=recursion, pointers=pointers)
            with open(source, "w", encoding="utf-8") as file:
                file.write(made.text())
            subprocess.run([compiler, "-w", f"-DSTACK_BYTES={1 << (21 if recursion else 19)}", "-I", here, *flags,
                            "-Wl,-z,now" if "-Wl,-z,lazy" not in flags else "-O2", source, "-o", program], check=True)
            what = f"seed {seed}: {compiler} {' '.join(flags)}"
            needs = needs_of(tool, program, os.path.join(folder, "p.json"))
            for root, mark in marks_of(program).items():
                function = needs.get(root)
                if function is None:
                    failures.append(f"{what}: {root} is not in the report")
                    continue
                compared[function["certainty"]] += 1
                if not recursion and not pointers:
                    simple += 1
                    # The check of a stack's canary is believed not to fail.
                    checked = function["certainty"] == "assumed" and "-fstack-protector-all" in flags
                    if function["certainty"] != "proved" and not checked:
                        missed.append(f"{what}: {root} is {function['certainty']}: {function['reason']}")
                if function["need"] is None:
                    continue
                if mark > function["need"]:
                    failures.append(f"{what}: {root} needed {mark}, nth-stack says {function['need']} "
                                    f"({function['certainty']})")
                if not recursion and not pointers:
                    ratios.append(function["need"] / mark)
    print(f"{programs} programs, functions: {compared}; need over mark: median {statistics.median(ratios):.3f}, "
          f"largest {max(ratios):.2f}")
    if len(missed) > (1 - LEAST_PROVED) * simple:
        failures += [f"{len(missed)} of {simple} functions without recursion and pointers are not proved"] + missed
    if statistics.median(ratios) > SLACK:
        failures.append(f"needs are {statistics.median(ratios):.2f} times the marks in the median")
    for failure in failures[:40]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
