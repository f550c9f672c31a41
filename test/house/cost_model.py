#!/usr/bin/env python3
"""The equations of bench/model against the processes that they describe: cost_model.py <root of the project>."""

import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "bench"))
from model import equations as eq  # noqa: E402
from model import simulate  # noqa: E402

# n, p, c, e
FINE = [(1000, 2, 7.0, 5.0), (1000, 2, 7.0, 7.0), (999, 4, 3.0, 8.5), (12000, 13, 2.0, 20.0), (5115, 1024, 1.0, 900.0)]
COARSE = [(1000, 2, 7.0, 50.0), (1000, 4, 3.0, 40.0), (10000, 8, 2.0, 300.0), (4000, 16, 5.0, 75.0),
          (20000, 64, 1.0, 2000.0)]


class Fine(unittest.TestCase):
    def test_corrected_equation_is_exact(self):
        for n, p, c, e in FINE:
            with self.subTest(n=n, p=p):
                self.assertAlmostEqual(simulate.fork_join(n, p, c, e), eq.eq3(n, p, c, e), places=6)

    def test_printed_equation_counts_the_wait_for_creation_twice(self):
        for n, p, c, e in FINE:
            n -= n % (p - 1)
            with self.subTest(n=n, p=p):
                printed = eq.eq3_printed(n, p, c)
                self.assertAlmostEqual(printed, simulate.as_printed(n, p, c, e), places=6)
                self.assertAlmostEqual(printed, eq.eq2_printed(n, p, c, e, (p - 1) * c - e), places=6)
                twice = n / (p - 1) * c
                late = (p - 1) * c - e  # it lets the last processor wait for a thread that never comes
                self.assertAlmostEqual(printed - twice - late, simulate.fork_join(n, p, c, e), places=6)


class Coarse(unittest.TestCase):
    def test_printed_equation_is_its_derivation(self):
        for n, p, c, e in COARSE:
            with self.subTest(n=n, p=p):
                k = eq.eq4_k(n, c, e)
                self.assertAlmostEqual(k * e + c, n * c, places=6)
                steps = k * e + (p - 1) * c + (n - (p - 1) * k) / p * e
                self.assertAlmostEqual(eq.eq5_printed(n, p, c, e), steps, places=6)

    def test_both_are_right_but_for_the_last_thread_and_the_start(self):
        for n, p, c, e in COARSE:
            with self.subTest(n=n, p=p):
                t = simulate.fork_join(n, p, c, e)
                exact = eq.eq5(n, p, c, e)
                self.assertGreaterEqual(t, exact - 1e-6)  # no schedule is shorter than the work spread evenly
                self.assertLess(t - exact, e)
                self.assertAlmostEqual(eq.eq5_printed(n, p, c, e) - exact, ((p - 1) / 2 - 1 / p) * c, places=6)

    def test_with_two_processors_they_agree(self):
        self.assertAlmostEqual(eq.eq5(1000, 2, 7.0, 50.0), eq.eq5_printed(1000, 2, 7.0, 50.0), places=9)

    def test_fine_and_coarse_meet(self):
        for p in (2, 5, 64):
            n, c = 100000, 3.0
            e = (p - 1) * c
            self.assertLess(abs(eq.eq3(n, p, c, e) - eq.eq5(n, p, c, e)), e)
            # As printed they are apart by as much as p / (p - 1).
            self.assertGreater(eq.eq3_printed(n, p, c) - eq.eq5_printed(n, p, c, e), 0.9 * n * c / (p - 1) - p * c)


class Creation(unittest.TestCase):
    def test_lookup_is_the_mean_over_queues(self):
        for p in (1, 2, 7, 1024):
            self.assertAlmostEqual(eq.eq1_lookup(p, 3.0), sum(3.0 * i for i in range(1, p + 1)) / p, places=6)

    def test_search(self):
        for p, r in ((1, 0.5), (2, 1.0), (4, 1.2), (8, eq.eq8_most(8)), (16, 0.0)):
            with self.subTest(p=p, r=r):
                seen = simulate.search(p, r, 2.0, 30.0, 5.0, random.Random(p), 200_000)
                self.assertAlmostEqual(eq.eq7_create(p, r, 2.0, 30.0, 5.0), seen, delta=0.01 * seen)
                self.assertAlmostEqual(eq.eq7_create(p, r, 2.0, 30.0, 5.0),
                                       eq.eq6_create(p, r / (p + 1), 2.0, 30.0, 5.0), places=9)

    def test_with_the_largest_r_nothing_is_allocated(self):
        for p in (1, 2, 64):
            r = eq.eq8_most(p)
            self.assertAlmostEqual(eq.eq7_create(p, r, 2.0, 1e9, 5.0) - eq.eq7_create(p, r, 2.0, 0.0, 5.0), 0, places=3)


class Blocks(unittest.TestCase):
    """nth's own: threads become visible 64 at a time, at the latest when the creator has made all."""

    def test_start_costs_a_block(self):
        for n, p, c, e in ((20000, 2, 7.0, 50.0), (40000, 4, 3.0, 40.0), (100000, 8, 2.0, 300.0)):
            with self.subTest(n=n, p=p):
                t = simulate.fork_join(n, p, c, e, eq.BLOCK)
                model = eq.ours(n, p, c, c, e, ask=float("inf"))
                self.assertLess(abs(t - model), e + p * c)
                self.assertGreater(model - eq.ours(n, p, c, c, e), 0.9 * (p - 1) * eq.BLOCK * c)

    def test_limits(self):
        self.assertEqual(eq.ours(100, 8, 3.0, 2.0, 5.0), 100 * 3.0 + 5.0)
        self.assertEqual(eq.ours(100, 1, 3.0, 2.0, 5.0), 100 * 7.0)
        self.assertEqual(eq.ours(6100, 8, 0.0, 0.0, 1.0, post=100.0), 100 * 100.0)


if __name__ == "__main__":
    unittest.main()
