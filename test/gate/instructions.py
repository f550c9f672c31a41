#!/usr/bin/env python3
"""instructions.py <operations program> <limits> [<why it cannot be measured here>]

Instructions of an operation: callgrind counts two runs with different n, and the difference divided by the
difference of n is free of start and end. Fails when one is above its limit."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FEW, MANY = 20_000, 120_000


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def count(program, operation, n):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, operation, str(n)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
        if run.returncode != 0:
            sys.exit(f"{operation} {n}: status {run.returncode}\n{run.stdout}")
        with open(out, encoding="utf-8") as file:
            return int(re.search(r"^totals: (\d+)", file.read(), re.MULTILINE).group(1))


def main():
    program, limits_file = sys.argv[1:3]
    if len(sys.argv) > 3 and sys.argv[3]:
        skip(sys.argv[3])
    if shutil.which("valgrind") is None:
        skip("no valgrind")
    with open(limits_file, encoding="utf-8") as file:
        limits = dict(line.split() for line in file if line.strip() and not line.startswith("#"))
    failed = []
    print(f"{'operation':<12} {'instructions':>12} {'limit':>6}")
    for operation, limit in limits.items():
        each = (count(program, operation, MANY) - count(program, operation, FEW)) / (MANY - FEW)
        over = each > float(limit)
        print(f"{operation:<12} {each:12.1f} {limit:>6}{'  above' if over else ''}")
        if over:
            failed.append(operation)
    if failed:
        sys.exit(f"above the limit in {limits_file}: {', '.join(failed)}")


main()
