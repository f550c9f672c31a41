#!/usr/bin/env python3
"""interpreters.py <build folder> static|dynamic: 10,000 Lua interpreters, each a thread that is blocked in Lua called by C called
by Lua, on small stacks."""
import json
import pathlib
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "bench" / "heaps"))
import program_files as files  # noqa: E402  where it is has just been said

COUNT = 10000
MOST_ROOT, MOST_SEGMENTS = 2048, 64 << 10  # bytes of a thread


def check(build, static):
    with tempfile.TemporaryDirectory() as folder:
        program = files.make(build, folder, "interpreters", static, 1024)
        said = json.loads(files.run([program, COUNT, 2, 12], env=files.environment("interpreters", 1024)).stdout)
    print(said)
    if said["right"] != COUNT:
        raise files.failed(f"{COUNT - said['right']} interpreters found something else than they should")
    if said["root_most"] > MOST_ROOT or said["segments_switched"] < COUNT:
        raise files.failed("threads do not start on small stacks, or never leave them")
    # A dynamic program's C library is not patched, so what it is called on is large.
    if static and said["segments_most"] > MOST_SEGMENTS:
        raise files.failed(f"a thread took {said['segments_most']} bytes of segments")


if __name__ == "__main__":
    try:
        check(pathlib.Path(sys.argv[1]), sys.argv[2] == "static")
    except files.failed as error:
        sys.exit(f"interpreters.py: {error}")
