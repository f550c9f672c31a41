#!/usr/bin/env python3
"""figure4_test.py <nth-stack>: the driver of paper 002's figure 4, over one small program. Ends with 77 where that can't be done."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = PROJECT / "bench" / "heaps" / "figure4.py"
sys.path.insert(0, str(DRIVER.parent))
import figure4  # noqa: E402  where it is has just been said

TOOL = sys.argv.pop(1)


class Figure4(unittest.TestCase):
    def test_what_is_computed(self):
        values = figure4.computed(1000, 10, 2)
        self.assertEqual(values, {"each_slow": 1.2, "each_fast": 1.06, "combined_slow": 1.044, "combined_fast": 1.016})

    def test_one_program(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, DRIVER, "--tool", TOOL, "--out", folder, "--only", "numbers"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            (row,) = json.loads(pathlib.Path(folder, "figure4.json").read_text())
        self.assertGreater(row["calls_laid"], 0.99 * row["calls"])
        self.assertTrue(0 < row["stubs"] < row["allocating"] < row["calls"] < row["instructions"])
        for name, value in figure4.computed(row["instructions"], row["allocating"], row["stubs"]).items():
            self.assertEqual(row[name], value)
        # Its loops call functions of its own source, which look at the stack's limit each time; two instructions and more.
        self.assertGreater(row["split_stack"], 1.002)
        self.assertEqual(row["no_split_stack"], "")

    def test_a_program_that_does_something_else(self):
        (numbers,) = [p for p in figure4.programs.PROGRAMS if p.name == "numbers"]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path, _ = numbers.get(folder)
            value, why = figure4.ratio(numbers, path, pathlib.Path("/bin/false"), folder, 1000)
        self.assertIsNone(value)
        self.assertIn("ends with 1", why)


if __name__ == "__main__":
    for command in ("valgrind", "gcc", "ld.gold"):
        if shutil.which(command) is None:
            print(f"skipped: no {command}")
            sys.exit(77)
    unittest.main(verbosity=2)
