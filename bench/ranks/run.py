#!/usr/bin/env python3
"""Figure 12 of paper 004, and what purchases of slots cost: run.py [--build DIR] [--only allocate|purchase].

Runs BUILD/bench/ranks_* under mpirun, prints tables, writes BUILD/bench/ranks.json and, with matplotlib,
figure12.svg.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

# Open MPI wants to be told that root, more ranks than processors, and no binding are meant.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
KINDS = [
    ("malloc", "malloc", {}),
    ("isomalloc, partitioned", "isomalloc", {"NTH_SLOT_DISTRIBUTION": "partitioned"}),
    ("isomalloc, round-robin", "isomalloc", {"NTH_SLOT_DISTRIBUTION": "cyclic"}),
    ("isomalloc, round-robin, nothing bought beside", "isomalloc",
     {"NTH_SLOT_DISTRIBUTION": "cyclic", "NTH_SLOT_PREBUY": "0"}),
]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[2] / "build" / "release")
    p.add_argument("--only", choices=["allocate", "purchase"])
    p.add_argument("--mpirun", default="mpirun")
    return p.parse_args()


def run(a, ranks, program, words, environment):
    done = subprocess.run(
        [a.mpirun, "-n", str(ranks), str(a.build / "bench" / program), *words],
        env=os.environ | MPI | {"NTH_WORKERS": "1"} | environment, check=True, stdout=subprocess.PIPE, text=True,
        timeout=300,
    ).stdout
    return [json.loads(line) for line in done.splitlines()]


def figure_12(a):
    series = {name: run(a, 2, "ranks_allocate", [word], env) for name, word, env in KINDS}
    print("microseconds an allocation, its pages touched; 2 ranks; median (first time)")
    print(f"{'bytes':>9}  " + "  ".join(f"{name[:28]:>28}" for name in series))
    for i, row in enumerate(series["malloc"]):
        cells = [f"{s[i]['us']:.2f} ({s[i]['first_us']:.2f})" for s in series.values()]
        print(f"{row['size']:>9}  " + "  ".join(f"{c:>28}" for c in cells))
    return series


def purchases(a):
    rows = []
    for way, spread in (("one", "partitioned"), ("wide", "cyclic")):
        for ranks, idle in ((2, []), (2, ["idle"]), (4, []), (8, [])):
            out = run(a, ranks, "ranks_purchase", [way, *idle],
                      {"NTH_SLOT_PREBUY": "0", "NTH_ISO_SIZE": "1G", "NTH_SLOT_DISTRIBUTION": spread})
            first = next(r for r in out if "ranks" in r)
            first |= {"way": way, "idle": bool(idle),
                      "messages": sum(r["sent"] for r in out) / first["purchases"],
                      "bytes": sum(r["sent_bytes"] for r in out) / first["purchases"]}
            rows.append(first)
    cores = len(os.sched_getaffinity(0))
    print(f"\nslots bought from other ranks; {cores} processors: with more ranks than that no times are given")
    print("way   ranks  others  round trip of MPI, us   a purchase, us          times  messages   bytes")
    for r in rows:
        timed = r["ranks"] <= cores
        trip = f"{r['trip_us']:.2f} ({r['trip_q1']:.2f}-{r['trip_q3']:.2f})" if timed else "-"
        us = f"{r['us']:.1f} ({r['q1_us']:.1f}-{r['q3_us']:.1f})" if timed else "-"
        times = f"{r['us'] / r['trip_us']:.1f}" if timed else "-"
        print(f"{r['way']:<5} {r['ranks']:>5}  {'asleep' if r['idle'] else 'awake':<6}  {trip:<22}  {us:<22}  {times:>5}"
              f"  {r['messages']:>8.1f}  {r['bytes']:>6.0f}")
    return rows


def carry_on(a, rows):
    """The system-wide way for more ranks than there are here, from what its parts cost."""
    two = next(r for r in rows if r["way"] == "wide" and r["ranks"] == 2 and not r["idle"])
    out = subprocess.run([str(a.build / "bench" / "ranks_model")], check=True, stdout=subprocess.PIPE, text=True).stdout
    model = [json.loads(line) for line in out.splitlines()]
    each = 2 * two["send_us"] + two["receive_us"]
    print(f"\nsystem-wide for P ranks: a round trip for the grant, (P - 1) lists and settles of {each:.2f} us each (two "
          f"short\nmessages sent at {two['send_us']:.2f} us, a list received at {two['receive_us']:.2f} us), and what the "
          "buyer computes")
    print("    P   messages   computes, us   predicted, us   measured, us")
    for m in model:
        p = m["ranks"]
        m["predicted_us"] = m["compute_us"] + (two["trip_us"] if p > 2 else 0) + (p - 1) * each
        measured = f"{two['us']:.1f}" if p == 2 else "-"
        print(f"{p:>5}  {3 * (p - 1) + (3 if p > 2 else 0):>9}  {m['compute_us']:>13.1f}  {m['predicted_us']:>14.1f}"
              f"  {measured:>13}")
    return model


def plot(series, path):
    try:
        import matplotlib
    except ImportError:
        print("no matplotlib: no plot")
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 1, figsize=(7, 8))
    for ax, (low, high), unit, div in ((axes[0], (0, 128 << 10), "KiB", 1 << 10),
                                       (axes[1], (128 << 10, 1 << 40), "MiB", 1 << 20)):
        for name, rows in series.items():
            some = [r for r in rows if low <= r["size"] <= high]
            ax.plot([r["size"] / div for r in some], [r["us"] for r in some], marker=".", label=name)
        ax.set_xlabel(f"requested, {unit}")
        ax.set_ylabel("us, its pages touched")
        ax.set_ylim(bottom=0)
    axes[0].legend()
    axes[0].set_title("Allocations on rank 0 of 2 (paper 004, figure 12)")
    figure.tight_layout()
    figure.savefig(path)
    print(f"plot: {path}")


def main():
    a = arguments()
    results = {}
    if a.only != "purchase":
        results["figure_12"] = figure_12(a)
        plot(results["figure_12"], a.build / "bench" / "figure12.svg")
    if a.only != "allocate":
        results["purchases"] = purchases(a)
        results["model"] = carry_on(a, results["purchases"])
    (a.build / "bench" / "ranks.json").write_text(json.dumps(results, indent=1))


main()
