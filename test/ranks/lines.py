#!/usr/bin/env python3
"""lines.py <ranks> <command…>: whole lines, each with its rank, those of one thread in their order."""

import collections
import re
import subprocess
import sys

THREADS, LINES = 5, 60
ranks = int(sys.argv[1])
out = subprocess.run(
    [*sys.argv[2:], str(THREADS), str(LINES)], check=True, stdout=subprocess.PIPE, text=True, timeout=100
).stdout

seen = collections.defaultdict(list)
others = collections.Counter()
for line in out.splitlines():
    if m := re.fullmatch(r"\[rank (\d+)\] thread (\d+) line (\d+) of rank (\d+) (end|x{9000})", line):
        assert m[1] == m[4], line
        assert (m[5] == "end") == (int(m[3]) % 10 != 0), line[:80]
        seen[m[1], m[2]].append(int(m[3]))
    elif m := re.fullmatch(r"\[rank \d+\] (two lines|by one call|from outside)[a-z ,]+ ?\d+", line):
        others[m[1]] += 1
    else:
        sys.exit(f"not a whole line: {line[:200]!r}")

assert len(seen) == ranks * THREADS, sorted(seen)
for thread, numbers in seen.items():
    assert numbers == list(range(LINES)), (thread, numbers)
assert others == {"two lines": ranks * THREADS, "by one call": ranks * THREADS, "from outside": ranks}, others
print(f"{len(out.splitlines())} lines of {ranks} ranks, whole and in order")
