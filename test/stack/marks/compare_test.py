#!/usr/bin/env python3
"""compare.py must see a mark above a need, functions that are not there, and find a function by its place."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).with_name("compare.py")


def function(name, address, need, certainty="proved", module="/lib/libx.so"):
    return {"name": name, "symbol": name, "module": module, "address": address, "frame": 8, "need": need,
            "certainty": certainty}


def mark(name, address, size, module="/lib/libx.so"):
    return {"function": name, "module": module, "address": address, "mark": size, "first": size, "later": 0, "calls": 1}


class comparing(unittest.TestCase):
    def result(self, functions, marks, *words, modules=()):
        with tempfile.TemporaryDirectory() as folder:
            report, measured = pathlib.Path(folder, "report"), pathlib.Path(folder, "marks")
            report.write_text(json.dumps({"modules": list(modules), "functions": functions}))
            measured.write_text(json.dumps({"library": "x", "marks": marks}))
            run = subprocess.run([sys.executable, COMPARE, "--report", report, *words, measured],
                                 capture_output=True, text=True)
            self.assertEqual(run.stderr, "")
            return run.returncode, run.stdout

    def test_equal_is_enough(self):
        status, out = self.result([function("f", 16, 100)], [mark("f", 16, 100)])
        self.assertEqual(status, 0, out)
        self.assertIn("| x | 1 | 1 | 100 % | 0 % | 0 % | 0 | 0 | 1.00 |", out)

    def test_a_mark_above_a_proved_need(self):
        status, out = self.result([function("f", 16, 99)], [mark("f", 16, 100)])
        self.assertEqual(status, 1)
        self.assertIn("mark 100 (first call 100, later 0), proved need 99", out)

    def test_a_mark_above_an_assumed_need(self):
        status, out = self.result([function("f", 16, 99, "assumed")], [mark("f", 16, 100)])
        self.assertEqual(status, 1)
        self.assertIn("assumed need 99", out)

    def test_unbounded_holds_anything(self):
        functions = [function("f", 16, None, "unbounded")]
        self.assertEqual(self.result(functions, [mark("f", 16, 10**6)])[0], 0)
        self.assertEqual(self.result(functions, [mark("f", 16, 10**6)], "--most-unbounded", "50")[0], 1)

    def test_too_few_are_proved(self):
        functions = [function("f", 16, 100), function("g", 32, 100, "assumed")]
        marks = [mark("f", 16, 100), mark("g", 32, 100)]
        self.assertEqual(self.result(functions, marks, "--least-proved", "50")[0], 0)
        self.assertEqual(self.result(functions, marks, "--least-proved", "51")[0], 1)

    def test_needs_are_too_wide(self):
        functions = [function("f", 16, 300)]
        self.assertEqual(self.result(functions, [mark("f", 16, 100)], "--most-median", "3")[0], 0)
        self.assertEqual(self.result(functions, [mark("f", 16, 100)], "--most-median", "2.9")[0], 1)

    def test_place_goes_before_name(self):
        functions = [function("f", "0x10", 8), function("other", "0x20", 200)]
        self.assertEqual(self.result(functions, [mark("f", 0x20, 100)])[0], 0)
        self.assertEqual(self.result(functions, [mark("f", 0x10, 100)])[0], 1)

    def test_name_alone_counts_in_its_own_module(self):
        functions = [function("f", 16, 8, module="/lib/liby.so"), function("f", 32, 100)]
        self.assertEqual(self.result(functions, [mark("f", 99, 100)])[0], 0)

    def test_modules_by_the_names_that_the_loader_has(self):
        functions = [function("f", 16, 8, module="libx.so")]
        marks = [mark("f", 16, 9, module="/usr/lib/libx.so.1.2")]
        modules = [{"name": "libx.so", "path": "/usr/lib/libx.so.1.2"}]
        self.assertEqual(self.result(functions, marks, modules=modules)[0], 1)
        functions[0]["need"] = 9
        self.assertEqual(self.result(functions, marks, modules=modules)[0], 0)

    def test_functions_that_are_not_there(self):
        status, out = self.result([function("f", 16, 100)], [mark("g", 1, 8), mark("h", 2, 8), mark("f", 16, 8)])
        self.assertEqual(status, 1)
        self.assertIn("2 of 3 functions are not in the report", out)

    def test_no_marks_at_all(self):
        self.assertEqual(self.result([function("f", 16, 100)], [])[0], 1)


if __name__ == "__main__":
    unittest.main()
