#!/usr/bin/env python3
"""linkers.py NTH-STACK CC LINKER   what a program needs does not depend on who linked it

Links the same objects with bfd, gold or lld in all ways that change stubs, slots, tables or relocations; runs them on a
painted stack; compares with what nth-stack says, and that with what it says of a plain link by GNU ld.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

nth_stack, cc, linker = sys.argv[1:4]
subjects = pathlib.Path(__file__).resolve().parent / "subjects"

MODES = {"pie": ["-fPIE", "-pie"], "fixed": ["-fno-pie", "-no-pie"], "static": ["-fPIE", "-static", "-no-pie"]}
EVERY = [["-z,now"], [], ["-z,now", "--gc-sections"], ["--emit-relocs"], ["-z,now", "--strip-debug", "--build-id"]]
LINKERS = {
    "bfd": EVERY + [["-z,now", "-z,separate-code"], ["-z,now", "-z,noseparate-code"], ["-z,now", "-z,ibtplt"],
                    ["-z,ibtplt"], ["-z,now", "-z,pack-relative-relocs"]],
    "gold": EVERY + [["-z,now", "--icf=all"], ["-z,now", "--icf=safe", "--gc-sections"], ["-z,now", "--rosegment"]],
    "lld": EVERY + [["-z,now", "-z,separate-code"], ["-z,now", "-z,noseparate-code"], ["--icf=all"],
                    ["-z,now", "--icf=all", "--gc-sections"], ["-z,now", "--pack-dyn-relocs=relr"],
                    ["-z,now", "-z,separate-loadable-segments"], ["-z,now", "--no-rosegment"], ["-z,force-ibt"],
                    ["-z,now", "-z,force-ibt"], ["-z,now", "-z,rodynamic"]],
}
# glibc wants a version in a program with such relocations that lld writes from release 15 on: not run, for older ones.
UNLOADABLE = {"--pack-dyn-relocs=relr"}
# A run leaves some bytes of its frames untouched.
SLACK = 1.05
SLACK_BYTES = 32
COMPARED = ("frame", "touched", "frame_bound", "need", "segment")
OPEN = {"by_table_outside"}  # a table in another module may have no bound, but no wrong one


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def functions_of(program, names):
    """What is said of the functions that have these names, several of which may stand for one place; None: nothing."""
    said = {f["address"]: f for f in json.loads(run(nth_stack, "report", program, "--json", "-"))["functions"]}
    found = {}
    for line in run("nm", program).splitlines():
        *address, _, name = line.split()
        if address and name in names:
            function = said.get(f"0x{int(address[0], 16):x}")
            named = function is not None and name in (function["symbol"], *function["aliases"])
            found[name] = function if named else None
    return found


def marks_of(program):
    out = run(program, env={**os.environ, "LD_BIND_NOW": "1"})  # as nth-stack believes
    return {name: int(mark) for name, mark in (line.split() for line in out.splitlines())}


def compare(marks, found, reference, options):
    for name, mark in marks.items():
        function = found[name]
        if name in OPEN and function["need"] is None:
            continue
        if function["need"] is None or not mark <= function["need"] <= SLACK * mark + SLACK_BYTES:
            yield f"{name} needed {mark}, nth-stack says {function['need']} ({function['certainty']})"
    for name in reference:
        if "--gc-sections" in options and name not in found:
            continue
        if found.get(name) is None:
            yield f"{name} is not in the report"
            continue
        for field in COMPARED:
            if found[name][field] != reference[name][field]:
                yield f"{name}: {field} {found[name][field]}, not {reference[name][field]}"
        if found[name]["certainty"] != reference[name]["certainty"] and "-z,now" in options:
            yield f"{name}: {found[name]['certainty']}, not {reference[name]['certainty']}"
    if ("unused" in found) == ("--gc-sections" in options):
        yield "what is not used was not dropped, or is there without reason"


def defined_in(objects):
    """Functions of the subject itself, but for those that print."""
    names = set()
    for line in run("nm", objects[0]).splitlines():
        kind, name = line.split()[-2:]
        if kind in "tTi" and name != "main" and "measure" not in name and ".cold" not in name:
            names.add(name)
    return names


def compile_subject(folder, mode, flags):
    objects = [folder / f"{mode}-linked.o"]
    compiler = [cc, "-O2", "-ffunction-sections", "-fno-ipa-icf", "-fno-exceptions", "-fno-rtti", "-w"]
    run(*compiler, *flags, "-c", subjects / "linked.cpp", "-o", objects[0])
    if mode == "static":
        objects.append(folder / "side.o")
        run(*compiler, *flags, "-c", subjects / "side.c", "-o", objects[1])
        return objects
    return [*objects, folder / "libside.so"]


def link(mode, linker, options, objects, program):
    run(cc, *MODES[mode], f"-fuse-ld={linker}", *[f"-Wl,{o}" for o in options], *objects, "-Wl,-rpath,$ORIGIN", "-o",
        program)


def main():
    if shutil.which(f"ld.{linker}") is None:
        print(f"no ld.{linker} on this machine")
        return 77
    failures, links = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        run(cc, "-O2", "-fPIC", "-shared", "-w", subjects / "side.c", "-Wl,-soname,libside.so", "-o",
            folder / "libside.so")
        for mode, flags in MODES.items():
            objects = compile_subject(folder, mode, flags)
            names = defined_in(objects)
            link(mode, "bfd", ["-z,now"], objects, program)
            reference, marks = functions_of(program, names), marks_of(program)
            for options in LINKERS[linker]:
                link(mode, linker, options, objects, program)
                links += 1
                if not set(options) & UNLOADABLE:
                    marks = marks_of(program)
                failures += [f"{mode} {' '.join(options)}: {failure}"
                             for failure in compare(marks, functions_of(program, names), reference, options)]
    print(f"{links} links by {linker}")
    for failure in failures[:40]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
