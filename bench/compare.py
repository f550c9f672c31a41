#!/usr/bin/env python3
"""Runs every program in BUILD/bench, interleaved, and writes BUILD/bench/results.json and results.html.

Interleaved: each round runs every configuration once, so that what changes on the machine within
minutes (clock rate, neighbours, the distance of virtual cores) falls on all of them alike.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # leave nothing in the source tree
import page  # noqa: E402
from model import report as model  # noqa: E402
import task_table  # noqa: E402

# What is run of each workload beside the plain program, and of which competitors ("*": all; "* but": all but
# these). Each entry: competitors, further arguments, most workers (None: as many as there are cores), or
# those numbers of workers that it is for.
PLANS = {
    "empty": [
        ("*", [], None),
        ("* but kernel", ["--window", "1000"], None),
        ("nth", ["--policy", "lsa"], None),
        ("nth", ["--policy", "dos", "--stack-size", "32768"], None),
        ("nth", ["--backlog", "0"], None),
        ("nth", [], [4, 8]),  # paper 003, figure 7
        ("nth-batch", [], [4, 8]),
    ],
    "create_join": [("*", [], None)],
    "yield": [("*", [], 1)],
    "blocked": [("*", ["--repeat", "1"], None), ("nth", ["--repeat", "1", "--policy", "lsa"], None)],
    "self_id": [("*", [], 1)],
    "task_memory": [("*", ["--warmup", "1"], None)],
    "livermore6": [("serial", [], 1), ("* but serial", [], None)],
    "livermore21": [("serial", [], 1), ("* but serial", [], None)],
    "fib": [("serial", [], 1), ("* but serial", ["--warmup", "1"], None)],
    "nqueens": [("serial", [], 1), ("* but serial", ["--warmup", "1"], None)],
    "uts": [("serial", [], 1), ("* but serial go", ["--warmup", "1"], None),
            ("go", ["--warmup", "0", "--repeat", "1"], None)],  # ten seconds each
    "cholesky": [("serial", [], 1), ("* but serial", ["--warmup", "1"], None)],
    # Their repetitions are short. The later of two --batch counts.
    "ops": [("*", ["--repeat", "49"], None),
            *[("nth-batch", ["--repeat", "49", "--batch", str(2**k)], None) for k in range(11) if k != 3]],
    "model": [("nth", ["--repeat", "29"], None)],
    "iso": [("*", [], 1)],
}
# Where they are not asked for: as in the papers, whatever the cores.
WORKERS = {"task_memory": [1, 2, 4], "livermore6": [1, 2, 4, 8], "livermore21": [1, 2, 4, 8], "ops": [1, 2, 4, 8]}
# Merged by median.
NS = ("ns_per_op", "cold_ns", "release_ns", "gflops", "q1_us", "median_us", "q3_us", "cycles", "work_ns", "create_ns")
KEY = ("workload", "competitor", "variant", "policy", "backlog", "workers")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, default=Path(__file__).resolve().parent.parent / "build" / "release",
                   help="build directory of the project (default: build/release)")
    p.add_argument("--workers", help="numbers of workers, comma-separated (default: 1, 2, then doubling up to the cores)")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--repeat", type=int, default=3, help="repetitions of each program in each round")
    p.add_argument("--only", help="workloads, comma-separated")
    p.add_argument("--quick", action="store_true", help="one round of a tenth of the operations: does all run?")
    p.add_argument("--timeout", type=float, default=120, help="seconds that one program may take")
    return p.parse_args()


def worker_counts(text, workload, only=None):
    if text:
        return [w for w in map(int, text.split(",")) if only is None or w in only]
    if only is not None:
        return only
    if workload in WORKERS:
        return WORKERS[workload]
    counts, cores = [1], len(os.sched_getaffinity(0))
    while counts[-1] * 2 <= cores:
        counts.append(counts[-1] * 2)
    return counts


def read_manifest(build):
    """Commands by workload and competitor, and those that are skipped with the reason."""
    path = build / "bench" / "manifest.txt"
    if not path.exists():
        sys.exit(f"compare.py: {path} is missing: configure and build the project with its benchmarks first")
    programs, skipped = [], []
    for line in path.read_text().splitlines():
        workload, competitor, text = line.split("|", 2)
        if text.startswith("skipped: "):
            skipped.append({"workload": workload, "competitor": competitor, "skipped": text.removeprefix("skipped: ")})
        else:
            name, *fixed = text.split()
            programs.append((workload, competitor, [str(build / "bench" / name), *fixed]))
    return programs, skipped


def takes_part(competitors, competitor):
    if competitors.startswith("* but "):
        return competitor not in competitors.removeprefix("* but ").split()
    return competitors in ("*", competitor)


def configurations(programs, workers, only):
    for workload, plan in PLANS.items():
        if only and workload not in only:
            continue
        for competitors, extra, most in plan:
            listed = isinstance(most, list)
            for w in worker_counts(workers, workload, most if listed else None):
                if not listed and most is not None and w > most:
                    continue
                for of, competitor, command in programs:
                    if of == workload and takes_part(competitors, competitor):
                        yield workload, competitor, command, w, extra


def name_of(command):
    return " ".join([Path(command[0]).name, *command[1:]])


def run_one(command, workers, repeat, extra, timeout):
    """The objects that the program printed, and the reason if it failed."""
    command = [*command, "--json", "--workers", str(workers), "--repeat", str(repeat), *extra]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except FileNotFoundError:
        return [], "not built"
    except subprocess.TimeoutExpired:
        return [], f"took more than {timeout:.0f} s"
    objects = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and objects:
        return objects, None
    lines = done.stderr.strip().splitlines()
    return objects, lines[0] if lines else f"exit status {done.returncode}"


def merge(objects):
    """One object of those that the rounds gave for one configuration."""
    merged = dict(objects[-1])
    for field in NS:
        values = [o[field] for o in objects if field in o]
        if values:
            merged[field] = round(statistics.median(values), 3)
    merged["min"] = min(o["min"] for o in objects)
    merged["max"] = max(o["max"] for o in objects)
    merged["repetitions"] = sum(o["repetitions"] for o in objects)
    if "mean_us" in merged:
        merged.update(task_table.all_runs(objects))
    merged["rounds"] = [o["ns_per_op"] for o in objects]
    if "ping_ns" in merged:
        merged["ping_ns"] = [ns for o in objects for ns in o["ping_ns"]]
    return merged


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return None


def cached(build, name):
    path = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", path.read_text(), re.M) if path.exists() else None
    return found.group(1) if found and found.group(1) and not found.group(1).endswith("NOTFOUND") else None


def machine(build):
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*:\s*(.*)$", info, re.M)
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    boost = Path("/usr/include/boost/version.hpp")
    boost = re.search(r'BOOST_LIB_VERSION "(.*)"', boost.read_text()) if boost.exists() else None
    clang, go = cached(build, "BENCH_CLANGXX"), cached(build, "BENCH_GO")
    described = {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "cpu": model.group(1) if model else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{int(memory.group(1)) / 2**20:.0f} GiB" if memory else None,
        "virtual": "hypervisor" in info,
        "kernel": f"{platform.system()} {platform.release()}",
        "compiler": first_line(cached(build, "CMAKE_CXX_COMPILER") or "c++", "--version"),
        "build type": cached(build, "CMAKE_BUILD_TYPE"),
        "LLVM OpenMP": first_line(clang, "--version") if clang else None,
        "oneTBB": first_line("pkg-config", "--modversion", "tbb"),
        "OpenBLAS": first_line("pkg-config", "--modversion", "openblas"),
        "Nettle": first_line("pkg-config", "--modversion", "nettle"),
        "Boost": boost.group(1).replace("_", ".") if boost else None,
        "Go": first_line(go, "version") if go else None,
        "C library": " ".join(platform.libc_ver()),
    }
    return {name: value for name, value in described.items() if value is not None}


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def main():
    o = arguments()
    programs, skipped = read_manifest(o.build)
    only = set(o.only.split(",")) if o.only else None
    if only and only - PLANS.keys():
        sys.exit(f"compare.py: no such workload: {', '.join(sorted(only - PLANS.keys()))}")
    todo = list(configurations(programs, o.workers, only))
    rounds, repeat, quick = (1, 1, ["--quick"]) if o.quick else (o.rounds, o.repeat, [])

    found, failed = {}, {}
    begin = time.monotonic()
    for r in range(rounds):
        for at, (workload, competitor, command, w, extra) in enumerate(todo):
            say(f"round {r + 1}/{rounds}, {at + 1}/{len(todo)}: {name_of(command)} --workers {w} {' '.join(extra)}"
                f" ({time.monotonic() - begin:.0f} s)")
            objects, reason = run_one(command, w, repeat, extra + quick, o.timeout)
            for one in objects:
                found.setdefault(tuple(one.get(k) for k in KEY), []).append(one)
            if reason:
                failed[(name_of(command), w, *extra)] = {"workload": workload, "competitor": competitor, "workers": w,
                                                     "options": " ".join(extra), "failed": reason}
    say("")

    results = {
        "machine": machine(o.build),
        "rounds": rounds,
        "results": [merge(objects) for objects in found.values()],
        "failed": list(failed.values()),
        "skipped": [s for s in skipped if not only or s["workload"] in only],
    }
    out = o.build / "bench"
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "results.html").write_text(page.render(results))
    print(page.as_text(results))
    print(task_table.as_text(results))
    print(model.as_text(results))
    print(f"{out / 'results.json'}\n{out / 'results.html'}")
    if task_table.draw(page.plotter(), results, out / "task_memory.svg"):
        print(out / "task_memory.svg")
    return 1 if failed else 0


def with_matplotlib():
    """Starts over with the system's Python where only that one has matplotlib."""
    if page.plotter() is None and os.environ.get("NTH_BENCH_PYTHON") is None:
        system = "/usr/bin/python3"
        if subprocess.run([system, "-c", "import matplotlib"], capture_output=True).returncode == 0:
            os.environ["NTH_BENCH_PYTHON"] = system
            os.execv(system, [system, *sys.argv])


if __name__ == "__main__":
    with_matplotlib()
    sys.exit(main())
