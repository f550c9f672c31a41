"""Workload task_memory as paper 001 shows it: the table of section 1.4 and its figure 1."""

import math

# In the paper's order, with its names where it has one.
ROWS = [("lists", "our system (lists)"), ("tcmalloc", "tcmalloc"), ("jemalloc", "jemalloc"), ("mimalloc", "mimalloc"),
        ("malloc", "malloc"), ("nth", "nth itself")]
PRELOADED = ("tcmalloc", "jemalloc", "mimalloc")


def all_runs(objects):
    """Mean and standard deviation over the runs of all rounds, from those of each."""
    runs = sum(o["runs"] for o in objects)
    mean = sum(o["runs"] * o["mean_us"] for o in objects) / runs
    squares = sum((o["runs"] - 1) * o["sd_us"] ** 2 + o["runs"] * (o["mean_us"] - mean) ** 2 for o in objects)
    return {"runs": runs, "mean_us": round(mean, 3), "sd_us": round(math.sqrt(squares / max(1, runs - 1)), 3)}


def by_variant(results):
    """{variant: {(competitor, workers): row}}, variants in the order in which they were run."""
    found = {}
    for r in results["results"]:
        if r["workload"] == "task_memory":
            found.setdefault(r["variant"], {})[r["competitor"], r["workers"]] = r
    return found


def number(value):
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def best_preloaded(rows, workers, field):
    """How many times the lists are faster than the best preloaded allocator."""
    own = rows.get(("lists", workers))
    others = [rows[c, workers][field] for c in PRELOADED if (c, workers) in rows]
    return f"{min(others) / own[field]:.2f}" if own and others else ""


def table(head, lines):
    """head: (heading, columns below it); lines: one list of cells each."""
    lines = [[""] + [h for h, below in head for h in [h] + [""] * (len(below) - 1)],
             ["Configuration"] + [b for _, below in head for b in below], *lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join([line[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(line[1:], widths[1:])]).rstrip()
            for line in lines]


def threads(n):
    return f"{n} thread{'s' if n > 1 else ''}"


def fib_table(variant, rows, workers):
    below = ["Mean", "Std. dev.", "Median", "Quartiles"]
    lines = []
    for competitor, name in ROWS:
        if any((competitor, w) in rows for w in workers):
            line = [name]
            for w in workers:
                r = rows.get((competitor, w))
                line += [number(r["mean_us"]), number(r["sd_us"]), number(r["median_us"]),
                         f"{number(r['q1_us'])} to {number(r['q3_us'])}"] if r else [""] * 4
            lines.append(line)
    lines.append(["best preloaded / ours"] + [c for w in workers for c in [
        best_preloaded(rows, w, "mean_us"), "", best_preloaded(rows, w, "median_us"), ""]])
    runs = sorted({r["runs"] for r in rows.values()})
    return [f"{variant}: microseconds a run, {' to '.join(str(n) for n in (runs[0], runs[-1])[:len(runs)])} runs", "",
            *table([(threads(w), below) for w in workers], lines), ""]


def memory_table(found, workers):
    variants = [v for v in found if v.startswith("memory")]
    if not variants:
        return []
    lines = []
    for competitor, name in ROWS:
        line = [number(found[v][competitor, w]["ns_per_op"]) if (competitor, w) in found[v] else ""
                for w in workers for v in variants]
        if any(line):
            lines.append([name] + line)
    lines.append(["best preloaded / ours"] + [best_preloaded(found[v], w, "ns_per_op") for w in workers for v in variants])
    return ["Memory alone: ns for that of one task, taken and given back, by each thread at the same time", "",
            *table([(threads(w), [v.removeprefix("memory, ") for v in variants]) for w in workers], lines), ""]


def as_text(results):
    found = by_variant(results)
    if not found:
        return ""
    workers = sorted({w for rows in found.values() for _, w in rows})
    lines = ["Task memory, as in paper 001, section 1.4", ""]
    for variant, rows in found.items():
        if variant.startswith("fib"):
            lines += fib_table(variant, rows, workers)
    return "\n".join(lines + memory_table(found, workers))


def draw(plt, results, path):
    """The paper's figure 1, one panel for each number. False: nothing to draw, or nothing to draw with."""
    found = {v: rows for v, rows in by_variant(results).items() if v.startswith("fib")}
    if plt is None or not found:
        return False
    figure, panels = plt.subplots(1, len(found), figsize=(4.4 * len(found), 4), squeeze=False)
    for axes, (variant, rows) in zip(panels[0], found.items()):
        workers = sorted({w for _, w in rows})
        shown = [(c, name) for c, name in ROWS if any((c, w) in rows for w in workers)]
        wide = 0.8 / len(workers)
        for i, w in enumerate(workers):
            at = [k for k, (c, _) in enumerate(shown) if (c, w) in rows]
            own = [rows[shown[k][0], w] for k in at]
            axes.bar([k + wide * (i - (len(workers) - 1) / 2) for k in at], [r["mean_us"] for r in own], wide * 0.92,
                     yerr=[[0] * len(own), [r["sd_us"] for r in own]], label=threads(w),
                     error_kw={"elinewidth": 0.8, "alpha": 0.6})
        axes.set_yscale("log")  # malloc would make all others look alike
        axes.set_xticks(range(len(shown)), [name for _, name in shown], rotation=35, ha="right")
        axes.set_title(variant)
        axes.set_ylabel("mean of a run, µs; line: one std. dev.")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].legend(frameon=False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return True
