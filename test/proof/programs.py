#!/usr/bin/env python3
"""programs.py <build folder> <program> static|dynamic: a program made of a library that knows nothing of small stacks, in
threads that start on 2 KiB at most, says what it says on stacks of 1 MiB, linked by the plain compiler."""
import pathlib
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "bench" / "heaps"))
import program_files as files  # noqa: E402  where it is has just been said

MOST_ROOT = 2048
RUNS = ((1, 1, 1), (48, 4, 1), (7, 2, 2))  # threads, workers, size


def check(build, name, static):
    with tempfile.TemporaryDirectory() as folder:
        plain = files.make(build, folder, name, static, files.PLAIN)
        segment = 1024
        small = files.make(build, folder, name, static, segment)
        for words in RUNS:
            expected, _ = files.says(plain, name, files.PLAIN, *words)
            found, stacks = files.says(small, name, segment, *words)
            where = f"{small.name} {words}"
            if not expected.strip():
                raise files.failed(f"{plain.name} says nothing")
            if found != expected:
                raise files.failed(f"{where} says\n{found}\nin place of\n{expected}")
            if stacks["root_most"] > MOST_ROOT:
                raise files.failed(f"{where}: a thread starts on {stacks['root_most']} bytes")
            if stacks["segments_switched"] == 0 or stacks["threads_unbounded"] != 0:
                raise files.failed(f"{where}: {stacks}")
            print(f"{where}: as plain; roots on {stacks['root_most']} bytes, {stacks['segments_switched']} switches, "
                  f"{stacks['segments_most']} bytes of segments at most")


if __name__ == "__main__":
    try:
        check(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "static")
    except files.failed as error:
        sys.exit(f"programs.py: {error}")
