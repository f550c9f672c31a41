#!/usr/bin/env python3
"""ways.py PATCH-EVERYTHING INCLUDE COMPILER LINKER    programs do the same when all that can be patched is

Builds the subjects in all ways that change calls, slots, tables or relocations, patches them, and runs them: with stubs that
find room always and never.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

tool, include, compiler, linker = sys.argv[1:5]
subjects = pathlib.Path(__file__).resolve().parent / "subjects"
CXX = {"gcc": "g++", "clang": "clang++"}[compiler]

FIXED = ["-fno-pie", "-no-pie"]
PIE = ["-fPIE", "-pie"]
STATIC = ["-fno-pie", "-static", "-no-pie"]
STATIC_PIE = ["-fPIE", "-static-pie"]
WAYS = [
    ["-O0", *FIXED], ["-O2", *FIXED], ["-O0", *PIE], ["-O3", *PIE], ["-O1", *PIE, "-fno-plt"], ["-O2", *FIXED, "-fno-plt"],
    ["-O2", *PIE, "-ffunction-sections", "-Wl,--gc-sections"], ["-O2", *PIE, "-fcf-protection"],
    ["-O2", *FIXED, "-fcf-protection", "-rdynamic"], ["-Os", *PIE, "-rdynamic", "-g"],
]
MORE = {
    "bfd": [["-O2", *STATIC], ["-O2", *STATIC_PIE], ["-O2", *PIE, "-Wl,-z,pack-relative-relocs"],
            ["-O2", *FIXED, "-Wl,-z,noseparate-code"], ["-O2", *FIXED, "-mcmodel=large"], 
            ["-O2", *PIE, "-Wl,--no-relax", "-fno-plt"]],
    "gold": [["-O2", *FIXED, "-ffunction-sections"]],
    "lld": [["-O2", *STATIC], ["-O2", *PIE, "-Wl,-z,separate-code"]],
}
if linker == "gold":
    WAYS = [way for way in WAYS if "-Wl,--gc-sections" not in way]  # it dies of that with -q
if compiler == "gcc" and linker == "bfd":
    MORE["bfd"].append(["-O2", *PIE, "-flto"])
# Unwind tables of fixed addresses name these themselves; the unwinder's caller has no stub.
MAY_BE_REFUSED = {"__gxx_personality_v0", "__gcc_personality_v0"}
ROOM = ("2000", "12000", "8000", "1000")


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def build(source, way, folder):
    program = folder / "program"
    language = CXX if source.suffix == ".cpp" else compiler
    compile_flags = [w for w in way if not w.startswith("-Wl,")]
    run(compiler, "-O2", "-mgeneral-regs-only", "-I", include, *[w for w in compile_flags if w.startswith("-f") and w != "-flto"
        and w != "-fno-plt"], "-c", subjects / "growth.c", "-o", folder / "growth.o")
    run(compiler, "-c", folder / "pool.S", "-o", folder / "pool.o")
    run(language, f"-fuse-ld={linker}", "-Wl,-q", "-Wl,-z,now", *way, source, folder / "growth.o", folder / "pool.o", "-o", program)
    return program


def check(source, way, folder):
    program, patched = build(source, way, folder), folder / "patched"
    tool_run = run(tool, program, patched)
    said = tool_run.stdout.strip()
    if any(line.split(":")[0] not in MAY_BE_REFUSED for line in tool_run.stderr.splitlines()):
        yield f"refuses {tool_run.stderr}"
    native = run(program).stdout
    if run(patched).stdout != native:
        yield "says something else with room"
    without = run(patched, env={**os.environ, "NTH_TEST_LIMIT": "1"})
    if without.stdout != native:
        yield "says something else without room"
    if int(without.stderr.split()[-1]) == 0:
        yield "meets no stub"
    run("objdump", "-d", "-j", ".nth_stubs", patched)
    if " .rela.text" in run("readelf", "-SW", patched).stdout:
        yield "has kept relocations"
    print(f"{source.name} {' '.join(way)}: {said}, {without.stderr.split()[-1]} met", flush=True)


def main():
    if shutil.which(f"ld.{linker}") is None or shutil.which(compiler) is None:
        print(f"no {linker} or no {compiler} here")
        sys.exit(77)
    failed = []
    keep = os.environ.get("KEEP")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(keep or name)
        (folder / "pool.S").write_text(run(tool, "--pool", *ROOM).stdout, encoding="utf-8")
        for way in WAYS + MORE[linker]:
            for source in sorted(subjects.glob("*.c*")):
                if source.name in ("growth.c", "obstacles.c"):
                    continue
                try:
                    wrong = list(check(source, way, folder))
                except RuntimeError as error:
                    wrong = [str(error)]
                failed += [f"{source.name} {' '.join(way)}: {each}" for each in wrong]
    print("\n".join(failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
