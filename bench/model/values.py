"""What `ops` and `model` have measured, by the names of paper 003."""

import statistics

from model import equations as eq

ASK_NS = 1000.0  # from a worker's first look to an answer: its patience of 800 ns and two ways of a line (idle.cpp)


class Values:
    """ns a thread; `workers` is P."""

    def __init__(self, results):
        self.rows = {(r["workload"], r["variant"], r["workers"]): r for r in results["results"]}
        self.workers = sorted({w for of, _, w in self.rows if of == "ops"})

    def row(self, workload, variant, workers):
        return self.rows.get((workload, variant, workers))

    def op(self, name, form, workers):
        """T_C and the like; form: "natural", "batch of 8", "inside". None: not measured."""
        r = self.row("ops", f"{name}, {form}", workers)
        return None if r is None else r["ns_per_op"]

    def batches(self):
        """Sizes of the sweep."""
        found = {v.rpartition(" ")[2] for of, v, _ in self.rows if of == "ops" and ", batch of " in v}
        return sorted(int(b) for b in found)

    def measured(self, workers):
        """Rows of the program whose time is predicted, finest first."""
        rows = [r for (of, _, w), r in self.rows.items() if of == "model" and w == workers]
        return sorted(rows, key=lambda r: r["work_ns"])

    def empty_work(self, workers):
        """T_W of a thread that does nothing: it is part of the drain."""
        rows = self.measured(workers) or self.measured(1)
        return rows[0]["work_ns"] if rows else 0.0

    def complete(self, workers):
        needed = [("T_C", workers), ("T_E", workers), ("T_C held", workers), ("T_E held", workers),
                  ("T_L+T_S+T_T", workers), ("T_L+T_S+T_T", 1)]
        return all(self.op(name, "natural", w) is not None for name, w in needed)

    def asked(self, workers):
        """T_C + T_E while the other workers run what arrives and ask for more."""
        return self.op("T_C", "natural", workers) + self.op("T_E", "natural", workers)

    def alone(self, workers):
        """T_C + T_E while the other workers are busy."""
        return self.op("T_C held", "natural", workers) + self.op("T_E held", "natural", workers)

    def drain(self, workers):
        """T_L + T_S + T_T."""
        return self.op("T_L+T_S+T_T", "natural", workers) - self.empty_work(workers)

    def post(self, workers):
        """A locked instruction on a line that the core beside has written: the line's way there and back."""
        pings = [ns for r in self.measured(workers) for ns in r.get("ping_ns", [])]
        return 2 * statistics.median(pings) if pings else 0.0

    def split(self):
        """T_L, T_S and T_T apart, at one worker; None: not measured."""
        t_l, call, t_t = (self.op(name, "inside", 1) for name in ("T_L", "T_S+T_W", "T_T"))
        if None in (t_l, call, t_t):
            return None
        return t_l, max(0.0, call - self.empty_work(1)), t_t

    def fresh(self):
        """T_CM: what fresh memory adds to a creation."""
        fresh, warm = self.op("T_C fresh", "natural", 1), self.op("T_C", "natural", 1)
        return None if fresh is None or warm is None else fresh - warm

    # ---- predictions of the time of n threads that work for t_w, ns ----

    def by_paper(self, n, p, t_w, formula=eq.paper):
        """With what was measured at p workers; equations 1 and 7 are not needed, for T_L and T_C are known."""
        return formula(n, p, self.asked(p), self.drain(p) + t_w)

    def by_ours(self, n, p, t_w, at=None):
        """`at`: the number of workers whose values are used, p when not given."""
        at = at or p
        return eq.ours(n, p, self.asked(at), self.alone(at), self.drain(at) + t_w, ASK_NS, self.post(at))

    def by_paper_at(self, n, p, t_w, r=1.0, formula=eq.paper):
        """For numbers of workers that this machine does not have: T_L1 of equation 1, T_C of equation 7."""
        _, t_s, t_t = self.split()
        t_q = self.op("T_L", "inside", 1)
        t_c = eq.eq7_create(p, r, self.op("T_Q recycling", "inside", 1), self.fresh(), self.op("T_CI", "inside", 1))
        return formula(n, p, t_c + self.op("T_E", "natural", 1), eq.eq1_lookup(p, t_q) + t_s + t_t + t_w)
