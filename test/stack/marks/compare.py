#!/usr/bin/env python3
"""Holds what nth-stack claims against marks: no mark may be above a need.

  compare.py --report REPORT.json MARKS.json …   a report that `nth-stack report --all-modules --json FILE` wrote
  compare.py --tool NTH_STACK [--arg=…] PROGRAM …   runs the marks programs and the tool itself

Ends with 1 when a mark is above a need (of certainty proved or assumed), when most functions that were measured are
not in the report, or when the report is worse than --most-unbounded, --least-proved and --most-median allow.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def number(value):
    """Addresses come as numbers or as text with 0x."""
    return int(value, 0) if isinstance(value, str) else value


def file_of(module):
    return os.path.basename(os.path.realpath(module)) if module else ""


class needs:
    """Of each function: by place in its module's file, else by linker name in that module."""

    def __init__(self, report):
        self.by_place, self.by_name = {}, {}
        # Functions name their module as the loader does (libc.so.6); the list of modules says where it lies.
        files = {m["name"]: file_of(m["path"]) for m in report.get("modules", []) if isinstance(m, dict)}
        for f in report["functions"]:
            name = f.get("module", "")
            module = files.get(name) or file_of(name)
            self.by_place[module, number(f["address"])] = f
            if f.get("symbol"):
                self.by_name[module, f["symbol"]] = f

    def of(self, mark):
        module = file_of(mark["module"])
        return self.by_place.get((module, mark["address"])) or self.by_name.get((module, mark["function"]))


def compare(report, marks):
    """-> rows of (mark's record, function's record or None)."""
    table = needs(report)
    return [(m, table.of(m)) for m in marks["marks"]]


def bound(f):
    return f is not None and f["certainty"] != "unbounded" and f.get("need") is not None


def spread(ratios):
    limits = [1.0, 1.25, 1.5, 2, 3, 5, 10, 50, 1000]
    counts, low = [], 0.0
    for limit in limits + [float("inf")]:
        counts.append((limit, sum(low < r <= limit for r in ratios)))
        low = limit
    return counts


def summary(name, rows):
    total = len(rows)
    by = {c: sum(f is not None and f["certainty"] == c for _, f in rows) for c in ("proved", "assumed", "unbounded")}
    ratios = sorted(f["need"] / m["mark"] for m, f in rows if bound(f) and m["mark"] > 0)
    return {"library": name, "functions": total, "calls": sum(m["calls"] for m, _ in rows),
            "absent": sum(f is None for _, f in rows), **by,
            "exceeded": sum(bound(f) and m["mark"] > f["need"] for m, f in rows),
            "median": statistics.median(ratios) if ratios else None,
            "spread": spread(ratios)}


def print_table(summaries):
    print("| library | functions | calls | proved | assumed | unbounded | absent | mark above need | need ÷ mark, median |")
    print("|---|---|---|---|---|---|---|---|---|")
    for s in summaries:
        share = lambda key: f"{100 * s[key] / max(1, s['functions']):.0f} %"
        median = "–" if s["median"] is None else f"{s['median']:.2f}"
        print(f"| {s['library']} | {s['functions']} | {s['calls']} | {share('proved')} | {share('assumed')} "
              f"| {share('unbounded')} | {s['absent']} | {s['exceeded']} | {median} |")
    print("\nneed ÷ mark, functions at most:")
    for s in summaries:
        cells = ", ".join(f"{'more' if limit == float('inf') else f'{limit:g}'}: {n}" for limit, n in s["spread"] if n)
        print(f"  {s['library']}: {cells or 'none bounded'}")


def print_failures(name, rows):
    """-> how many there are."""
    bad = 0
    for certainty in ("proved", "assumed"):
        for m, f in rows:
            if bound(f) and f["certainty"] == certainty and m["mark"] > f["need"]:
                bad += 1
                print(f"FAILED: {name}: {m['function']} at {m['address']:#x}: mark {m['mark']} (first call {m['first']}, "
                      f"later {m['later']}), {certainty} need {f['need']}")
    return bad


def run_tool(tool, words, program, folder):
    marks = folder / (program.name + ".marks.json")
    # nth-stack takes it that calls are bound when the program starts, unless it is told that they are not.
    environment = os.environ if "--lazy-binding" in words else {**os.environ, "LD_BIND_NOW": "1"}
    subprocess.run([program, "--json", marks], check=True, stderr=subprocess.DEVNULL, env=environment)
    report = folder / (program.name + ".report.json")
    subprocess.run([tool, "report", program, "--all-modules", "--json", report, *words], check=True)
    return report, marks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--arg", action="append", default=[], help="handed to nth-stack report; may be repeated")
    parser.add_argument("--most-unbounded", type=float, default=100.0, metavar="PERCENT")
    parser.add_argument("--least-proved", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("--most-median", type=float, default=float("inf"), metavar="RATIO", help="of need ÷ mark")
    parser.add_argument("--worst", type=int, default=0, help="lists so many functions of the largest need ÷ mark")
    parser.add_argument("--unbounded", action="store_true", help="lists the functions without a bound, and why")
    parser.add_argument("--json", type=pathlib.Path, help="writes the summaries there")
    options = parser.parse_args()
    if (options.report is None) == (options.tool is None):
        parser.error("give one of --report and --tool")

    summaries, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for file in options.files:
            report, marks = options.report, file
            if options.tool:
                report, marks = run_tool(options.tool.resolve(), options.arg, file.resolve(), pathlib.Path(folder))
            marks = json.loads(marks.read_text(encoding="utf-8"))
            rows = compare(json.loads(report.read_text(encoding="utf-8")), marks)
            s = summary(marks["library"], rows)
            summaries.append(s)
            bad += print_failures(s["library"], rows)
            if not rows or 2 * s["absent"] > s["functions"]:
                bad += 1
                print(f"FAILED: {s['library']}: {s['absent']} of {s['functions']} functions are not in the report")
            if 100 * s["unbounded"] > options.most_unbounded * s["functions"]:
                bad += 1
                print(f"FAILED: {s['library']}: {s['unbounded']} of {s['functions']} functions have no bound")
            if 100 * s["proved"] < options.least_proved * s["functions"]:
                bad += 1
                print(f"FAILED: {s['library']}: only {s['proved']} of {s['functions']} needs are proved")
            if s["median"] is not None and s["median"] > options.most_median:
                bad += 1
                print(f"FAILED: {s['library']}: needs are {s['median']:.2f} times the marks in the median")
            if options.unbounded:
                for m, f in rows:
                    if f is not None and f["certainty"] == "unbounded":
                        print(f"unbounded: {m['function']}: mark {m['mark']}: {f.get('reason', '')}")
            if options.worst:
                order = sorted((r for r in rows if bound(r[1])), key=lambda r: -r[1]["need"] / r[0]["mark"])
                for m, f in order[:options.worst]:
                    print(f"wide: {m['function']}: mark {m['mark']}, {f['certainty']} need {f['need']}")
    print_table(summaries)
    if options.json:
        options.json.write_text(json.dumps(summaries, indent=1), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
