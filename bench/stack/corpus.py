#!/usr/bin/env python3
"""Table 1 of "Heaps o' Stacks" for programs of today, and how the analysis' time grows with their size.

  corpus.py --tool NTH_STACK [--only NAME …] [--arg=…] [--json FILE] > TABLE.md
"""
import argparse
import json
import pathlib
import sys
import tempfile

import programs
import tool


def measure(options, p, folder):
    path, why = p.get(folder)
    row = {"name": p.name, "kind": p.kind, "what": p.what}
    if path is None:
        return {**row, "left_out": why}
    r = tool.run(options.tool, path, *options.arg, repeat=options.repeat)
    if r.report is None:
        return {**row, "failed": f"status {r.status}: {r.error[-300:]}"}
    s = r.report["summary"]
    own = tool.own_functions(r.report)
    for certainty in ("proved", "assumed", "unbounded"):
        row[certainty] = sum(f["certainty"] == certainty for f in own)
    row["in_cycles"] = sum(f["in_cycle"] for f in own)
    row["frame_unbounded"] = sum(f["frame"] is None for f in own)
    for key in ("procedures", "call_sites", "back_edges", "forward_edges", "indirect_calls"):
        row[key] = s[key]
    modules = [pathlib.Path(m["path"]) for m in r.report["modules"]]
    row["bytes"] = path.stat().st_size
    row["bytes_of_modules"] = sum(m.stat().st_size for m in modules if m.exists())
    return {**row, "modules": len(modules), "seconds": r.seconds, "wall": r.wall, "peak": r.peak}


def print_tables(rows):
    good = [r for r in rows if "procedures" in r]
    print("| program | what | procedures | call sites | back edges | forward edges | indirect calls "
          "| proved | assumed | unbounded | modules | time | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for r in good:
        n = max(1, r["proved"] + r["assumed"] + r["unbounded"])
        shares = " | ".join(f"{100 * r[c] / n:.0f} %" for c in ("proved", "assumed", "unbounded"))
        kind = {"static": ", static", "debian": "", "library": ", library"}[r["kind"]]
        print(f"| {r['name']} | {r['what']}{kind} | {r['procedures']:,} | {r['call_sites']:,} | {r['back_edges']:,} "
              f"| {r['forward_edges']:,} | {r['indirect_calls']:,} | {shares} | {r['modules']} "
              f"| {r['seconds']:.2f} s | {r['peak'] / 2**20:.0f} MiB |")
    print("\nTime against size, all modules of each program, smallest first:\n")
    print("| program | MiB of modules | call sites | seconds | seconds a MiB |")
    print("|---|---|---|---|---|")
    for r in sorted(good, key=lambda r: r["bytes_of_modules"]):
        size = r["bytes_of_modules"] / 2**20
        print(f"| {r['name']} | {size:.1f} | {r['call_sites']:,} | {r['seconds']:.2f} | {r['seconds'] / size:.3f} |")
    for r in rows:
        if "procedures" not in r:
            print(f"\nLeft out: {r['name']}: {r.get('left_out') or r['failed']}")
    for name, why in programs.ABSENT.items():
        print(f"\nNot here: {name}: {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--arg", action="append", default=[], help="handed to nth-stack report; may be repeated")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--repeat", type=int, default=1, help="times each; the shortest counts")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for p in programs.PROGRAMS:
            if not options.only or p.name in options.only:
                rows.append(measure(options, p, pathlib.Path(folder)))
                print(rows[-1]["name"], rows[-1].get("failed", rows[-1].get("left_out", "")), file=sys.stderr)
    print_tables(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 1 if any("failed" in r for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
