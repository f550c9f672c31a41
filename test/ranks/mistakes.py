#!/usr/bin/env python3
"""mistakes.py <mpiexec> <-n flag> <folder of programs> <C compiler> <C++ compiler> <flags…>: ranks that do not fit together.

Each case: what runs where, and what must be said. All ranks must end by themselves.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

mpiexec, number, folder, compiler, cxx_compiler, *flags = sys.argv[1:]
folder = pathlib.Path(folder)
program = folder / "ranks_alike"
work = pathlib.Path(tempfile.mkdtemp(prefix="nth-mistakes."))
failures = 0


def run(*groups):
    """Groups of (ranks, environment, command)."""
    words = [mpiexec]
    for i, (ranks, environment, command) in enumerate(groups):
        words += [":"] if i else []
        words += [number, str(ranks), "env", *(f"{k}={v}" for k, v in environment.items()), *map(str, command)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout


def expect(name, result, good, *texts):
    global failures
    code, out = result
    missing = [t for t in texts if t not in out]
    if (code == 0) == good and not missing:
        print(f"{name}: as it should be")
        return
    failures += 1
    print(f"FAILED: {name}: status {code}, missing {missing}\n{out}")


def build(name, source, *more):
    target = work / name
    subprocess.run([compiler, "-O1", *more, str(source), "-o", str(target), *flags], check=True)
    return target


for option, there, here in [
    ("NTH_SLOT_SIZE", "128K", "64K"),
    ("NTH_SLOT_DISTRIBUTION", "cyclic", "partitioned"),
    ("NTH_ISO_SIZE", "1G", "16T"),
    ("NTH_STACK_SIZE", "128K", "64K"),
    ("NTH_STACK_POLICY", "lsa", "dsr"),
    ("NTH_ISO_CHECK", "1", "0"),
]:
    expect(
        f"{option} differs",
        run((1, {}, [program, 2]), (1, {option: there}, [program, 2])),
        False,
        "rank 1 (",
        f"differs from rank 0 (",
        f"{option} is {there} there, and {here} here",
    )

expect(
    "workers may differ",
    run((1, {"NTH_WORKERS": 1}, [program, 2]), (1, {"NTH_WORKERS": 5}, [program, 2])),
    True,
)
expect(
    "an option that cannot be read, on one rank",
    run((1, {}, [program, 2]), (1, {"NTH_WORKERS": "many"}, [program, 2])),
    False,
    'rank 1 (',
    'cannot take part: NTH_WORKERS is "many"',
)
expect(
    "an unknown distribution",
    run((2, {"NTH_SLOT_DISTRIBUTION": "striped"}, [program, 2])),
    False,
    'NTH_SLOT_DISTRIBUTION is "striped": accepted is partitioned, cyclic, block-cyclic',
)
expect(
    "a distribution by a function that is not there",
    run((2, {"NTH_SLOT_DISTRIBUTION": "user"}, [program, 2])),
    False,
    "nth_set_slot_distribution",
)

takes = folder / "ranks_takes_place"
expect("a place that is taken on rank 1", run((2, {}, [takes, 1])), True, "areas elsewhere: block at 0x")
expect(
    "no place on rank 1",
    run((2, {"NTH_AREA_SIZE": "1T", "NTH_ISO_SIZE": "1T"}, [takes, 1, "everywhere"])),
    False,
    "no addresses for 2 ranks",
)

source = work / "small.c"
source.write_text(
    """#include <nth/cluster.h>
#include <stdio.h>
int main(int argc, char **argv) {
  if (nth_cluster_init(&argc, &argv, NULL) != NTH_OK) { fprintf(stderr, "%s\\n", nth_last_error()); return 3; }
  printf("up\\n" EXTRA);
  return nth_cluster_finalize() == NTH_OK ? 0 : 4;
}
"""
)
one = build("one", source, "-DEXTRA=")
other = build("other", source, '-DEXTRA="!"')
expect("the small program", run((2, {}, [one])), True, "up")
expect(
    "two programs",
    run((1, {}, [one]), (1, {}, [other])),
    False,
    "rank 1 (",
    "differs from rank 0 (",
    "the program (its build id) is ",
)
flags = [f for f in flags if f != "-Wl,--build-id"]
without = build("without", source, "-DEXTRA=", "-Wl,--build-id=none")
expect("no build id", run((2, {}, [without])), True, "up")
expect("no build id, another program", run((1, {}, [without]), (1, {}, [one])), False, "the program (its build id) is ", "contents ")

free = [f for f in flags if f not in ("-no-pie", "-fno-pie")]
target = work / "pie"
subprocess.run([compiler, "-O1", "-fPIE", "-pie", "-DEXTRA=", str(source), "-o", str(target), *free], check=True)
expect("position-independent", run((2, {}, [target])), False, "cannot take part: the program is position-independent")

source = work / "throws.cpp"
source.write_text(
    """#include <nth/cluster.h>
#include <cstdio>
#include <stdexcept>
int main(int argc, char **argv) {
  try {
    if (nth_cluster_init(&argc, &argv, nullptr) != NTH_OK)
      throw std::runtime_error(nth_last_error());
    std::puts("up");
    return nth_cluster_finalize() == NTH_OK ? 0 : 4;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\\n", e.what());
    return 3;
  }
}
"""
)
compiler = cxx_compiler
flags = ["-std=c++20", *flags]
expect("a C++ program", run((2, {}, [build("cxx", source, "-static-libstdc++")])), True, "up")
expect(
    "the C++ library shared",
    run((2, {}, [build("cxx_shared", source)])),
    False,
    "cannot take part: the program has the C++ library from a shared library",
    "pkg-config --libs nth-cluster",
)

print("FAILED" if failures else "all as it should be")
sys.exit(1 if failures else 0)
