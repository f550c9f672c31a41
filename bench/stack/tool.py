"""Runs nth-stack and says what that took."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def file_of(module):
    return os.path.basename(os.path.realpath(module)) if module else ""


class result:
    def __init__(self, seconds, wall, peak, status, report, error):
        self.seconds, self.wall, self.peak = seconds, wall, peak
        self.status, self.report, self.error = status, report, error


def run(tool, program, *words, repeat=1):
    """-> the report of `program`, the least processor time and the least wall-clock time of the runs, peak resident
    bytes. Processor time is what tables show: others may use the machine too."""
    best, wall, peak, status, error = float("inf"), float("inf"), 0, 0, ""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "report.json")
        for _ in range(repeat):
            done = subprocess.run([sys.executable, __file__, tool, "report", program, "--json", out, *words],
                                  capture_output=True, text=True, check=False)
            *complaints, last = done.stderr.splitlines()
            used = json.loads(last)
            status, error = used["status"], "\n".join(complaints)
            best, wall, peak = min(best, used["seconds"]), min(wall, used["wall"]), max(peak, used["peak"])
        try:
            report = json.loads(out.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError):
            report = None
    return result(best, wall, peak, status, report, error)


def own_functions(report):
    """The functions of the program itself, not of libraries loaded with it."""
    first = report["modules"][0]["name"]
    return [f for f in report["functions"] if f["module"] == first]


def main(command):
    """In a process of its own, for a child's peak of memory is at least what its parent held when it forked."""
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ)
    _, code, usage = os.wait4(child, 0)
    print(json.dumps({"status": os.waitstatus_to_exitcode(code), "wall": time.monotonic() - start,
                      "seconds": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * 1024}), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
