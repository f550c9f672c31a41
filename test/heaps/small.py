#!/usr/bin/env python3
"""small.py <build folder>: each program of paper 002's table 2 on stacks of 64 KiB and on small ones, traced, a few steps:
results, stacks, and what the paper found of them. Ends with 77 where that can't be done."""
import pathlib
import shutil
import sys
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "bench" / "heaps"))
import binaries  # noqa: E402  where it is has just been said
import paper  # noqa: E402
import traces  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1))
THREADS = 64
SIZES = {"sor": 96, "mp3d": 400, "ocean": 32}


class SmallStacks(unittest.TestCase):
    def pair(self, program, size):
        made = {kind: binaries.make(BUILD, program, kind) for kind in binaries.KINDS}
        found = {}
        for kind, binary in made.items():
            command = traces.command_of(binary, THREADS, 3, size)
            found[kind] = traces.traced(BUILD, binary, command, [paper.CACHE], [paper.TLB])
        return made, found

    def test_stacks_and_traces(self):
        for program, size in SIZES.items():
            with self.subTest(program):
                made, found = self.pair(program, size)
                (large, large_trace), (small, small_trace) = found["64K"], found["small"]
                self.assertEqual(large["stack_bytes"], 64 << 10)
                need = made["small"].need
                self.assertLessEqual(need, 4 << 10)
                # The smallest power of two that holds the need and the 64 bytes at the top.
                self.assertLess(need + 64, small["stack_bytes"] + 1)
                self.assertGreater(need + 64, small["stack_bytes"] // 2)
                self.assertEqual(small["switches"], large["switches"])
                # The same work; what a stack of its own class costs comes with switches between threads and stacks.
                more = small_trace["instructions"] - large_trace["instructions"]
                self.assertLess(abs(more) / small["switches"], 250)
                for trace in (large_trace, small_trace):
                    self.assertEqual(trace["phases"], 1)
                    self.assertEqual(trace["loads"] > trace["stores"] > 0, True)
                # The paper's point: many threads share an entry of the TLB.
                self.assertLess(1.2 * small_trace["tlbs"][0]["misses"], large_trace["tlbs"][0]["misses"])

    def test_results(self):
        for program, size in SIZES.items():
            binary = binaries.make(BUILD, program, "small")
            for threads, workers in ((1, 1), (5, 1), (THREADS, 2), (300, 2)):
                with self.subTest(program, threads=threads, workers=workers):
                    said = traces.native(traces.command_of(binary, threads, 7, size, ["--workers", str(workers)]))
                    self.assertEqual((said["checked"], said["wrong"]), (True, ""))

    def test_the_error_routine_has_room(self):
        """12,000 bytes of frame, called from threads whose stacks have a fraction of that."""
        for program, size in SIZES.items():
            with self.subTest(program):
                binary = binaries.make(BUILD, program, "small")
                said = traces.native(traces.command_of(binary, THREADS, 3, size, ["--provoke"]))
                self.assertGreater(said["mistakes"], 0)
                self.assertLess(said["stack_bytes"], 12000)


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        print("skipped: no valgrind")
        sys.exit(77)
    unittest.main(verbosity=2)
