"""The results as text and as one self-contained HTML page with plots."""

import html
import statistics

import figures
from model import report

TITLES = {
    "empty": ("Empty", "one master creates n threads that do nothing and waits for all; ns a thread"),
    "create_join": ("Create and join", "one thread is created and waited for, n times; ns a pair"),
    "yield": ("Yield", "two threads yield to each other; ns a yield"),
    "blocked": ("Blocked threads", "n threads are created, run and block, all at once; ns a thread"),
    "self_id": ("Self-identification", "a thread asks who it is; ns a call"),
    "livermore6": ("Livermore kernel 6", "general linear recurrence of 7,500 unknowns, rows wait for each element; ns a row"),
    "livermore21": ("Livermore kernel 21", "matrix product, 200,001 x 25 by 25 x 25; ns a row"),
    "task_memory": ("Task memory", "recursive Fibonacci, each task with memory of its own, and task memory alone; ns a task"),
    "fib": ("Fork and join: fib", "recursive Fibonacci, fib(n - 1) spawned and fib(n - 2) called, no cut-off; ns a spawn"),
    "nqueens": ("Fork and join: N-Queens", "all solutions, a task for each queen that is put; ns a task"),
    "uts": ("Fork and join: Unbalanced Tree Search", "a task for each node of the published trees; ns a node"),
    "cholesky": ("Dependencies: tiled Cholesky", "a task for each BLAS or LAPACK kernel on a tile; ns a task"),
    "ops": ("Operations of a thread", "its phases apart, and steps inside the library; ns a thread"),
    "model": ("Cost model", "a master creates n threads that work for a time T_W (ns) and waits for all; ns a thread"),
}

# Columns of the tables: heading, field, format. A column that no row has is left out.
COLUMNS = [
    ("n", "n", "count"), ("cycles", "cycles", "ns"), ("ns", "ns_per_op", "ns"), ("min", "min", "ns"), ("max", "max", "ns"),
    ("runs", "runs", "count"), ("mean us", "mean_us", "ns"), ("std. dev.", "sd_us", "ns"),
    ("Gflop/s", "gflops", "ns"), ("first", "cold_ns", "ns"), ("ping", "ping_ns", "ping"), ("stacks", "stacks", "count"),
    ("descriptors", "descriptors", "count"), ("resident", "rss_bytes", "bytes"),
    ("bytes/thread", "resident_bytes_a_thread", "count"), ("page tables", "page_table_bytes_a_thread", "count"),
    ("mappings", "mappings", "count"), ("release ns", "release_ns", "ns"), ("creation", "create_ns", "ns"),
]

STYLE = """body{font:15px/1.45 sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}.note{color:#666}.fail{color:#a00}tr.own td{background:#eef4fb}
svg{max-width:100%;height:auto}"""


def label(r):
    parts = [r["competitor"]]
    if r.get("policy", "dsr") != "dsr":
        parts.append(r["policy"])
    if r.get("backlog", 8192) != 8192:  # the default is not named
        parts.append(f"backlog {r['backlog']}" if r["backlog"] else "no bound on waiting threads")
    if r["variant"]:
        parts.append(r["variant"])
    return ", ".join(parts)


def cell(r, field, form):
    value = r.get(field)
    if value is None or value == []:
        return ""
    if form == "ns":
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    if form == "ping":
        return f"{statistics.median(value):.0f} ({min(value):.0f} to {max(value):.0f})"
    if form == "bytes":
        return f"{value / 1e6:,.1f} MB"
    return f"{value:,.0f}"


def groups(results):
    """(workload, workers, rows from fast to slow) in the order of TITLES."""
    for workload in TITLES:
        rows = [r for r in results["results"] if r["workload"] == workload]
        for workers in sorted({r["workers"] for r in rows}):
            yield workload, workers, sorted((r for r in rows if r["workers"] == workers), key=lambda r: r["ns_per_op"])


def columns(rows):
    return [c for c in COLUMNS if any(cell(r, c[1], c[2]) for r in rows)]


def missing(results, workload):
    """Sentences on who did not take part, so that nobody is left out in silence."""
    for s in results["skipped"]:
        if s["workload"] == workload:
            yield f"{s['competitor']} skipped: {s['skipped']}"
    for f in results["failed"]:
        if f["workload"] == workload:
            options = f" {f['options']}" if f["options"] else ""
            yield f"{f['competitor']}{options}, workers {f['workers']}, failed: {f['failed']}"


def as_text(results):
    lines = []
    last = None
    for workload, workers, rows in groups(results):
        if workload == "ops":  # the model's report shows it
            continue
        if workload != last:
            lines += ["", f"{TITLES[workload][0]}: {TITLES[workload][1]}", *missing(results, workload)]
        last = workload
        shown = [c for c in columns(rows)]
        table = [[f"{workers} worker{'s' if workers > 1 else ''}"] + [c[0] for c in shown]]
        table += [[label(r)] + [cell(r, c[1], c[2]) for c in shown] for r in rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines.append("")
        for row in table:
            lines.append("  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]))
    seen = {w for w, _, _ in groups(results)}
    for workload in TITLES:
        if workload not in seen:
            lines += [f"{TITLES[workload][0]}: {m}" for m in missing(results, workload) if "failed" in m]
    return "\n".join(lines) + "\n"


def plotter():
    """matplotlib's pyplot without a display, or None."""
    try:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "nth"  # the same results give the same page
        matplotlib.rcParams["font.size"] = 9
        import matplotlib.pyplot as plt
        return plt
    except ImportError:
        return None


def plot(plt, rows):
    """Bars from fast to slow, a colour for each number of workers; a line from min to max. As SVG text."""
    workers = sorted({r["workers"] for r in rows})
    best = {}
    for r in rows:
        best[label(r)] = min(best.get(label(r), r["ns_per_op"]), r["ns_per_op"])
    names = sorted(best, key=best.get, reverse=True)
    thick = 0.8 / len(workers)
    figure, axes = plt.subplots(figsize=(9, 0.7 + 0.2 * len(names) * (1 + 0.6 * len(workers))))
    for i, w in enumerate(workers):
        mine = {label(r): r for r in rows if r["workers"] == w}
        at = [k for k, name in enumerate(names) if name in mine]
        own = [mine[names[k]] for k in at]
        ns = [r["ns_per_op"] for r in own]
        spread = [[max(0, v - r["min"]) for v, r in zip(ns, own)], [max(0, r["max"] - v) for v, r in zip(ns, own)]]
        # The first number of workers on top, as in the legend.
        y = [k + thick * ((len(workers) - 1) / 2 - i) for k in at]
        bars = axes.barh(y, ns, thick * 0.92, xerr=spread, label=f"{w} worker{'s' if w > 1 else ''}",
                         error_kw={"elinewidth": 0.8, "alpha": 0.6})
        axes.bar_label(bars, [f"{v:.3g}" if v < 1000 else f"{v:,.0f}" for v in ns], padding=4, fontsize=7.5)
    axes.set_yticks(range(len(names)), names)
    axes.set_xscale("log")
    axes.set_xlabel("ns (logarithmic); the thin line spans the fastest and the slowest repetition")
    axes.margins(x=0.12, y=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    if len(workers) > 1:
        axes.legend(loc="upper right", frameon=False)
    return figures.as_svg(plt, figure)


def render(results):
    text = html.escape
    plt = plotter()
    out = ["<!doctype html><html lang=en><meta charset=utf-8><title>nth: benchmarks</title>",
           f"<style>{STYLE}</style><h1>nth: benchmarks</h1><table>"]
    out += [f"<tr><td>{text(k)}<td>{text(str(v))}" for k, v in results["machine"].items()]
    out.append("</table><p>Median over the rounds of each round's median, fastest and slowest repetition. "
               f"Rounds: {results['rounds']}, every configuration once in each. <i>first</i>: the first repetition, "
               "on fresh memory. <i>ping</i>: what a cache line takes from one core to the other, one way, in ns: "
               "figures of two workers compare only where it is alike.</p>")
    if plt is None:
        out.append("<p class=fail>No plots: this Python has no matplotlib.</p>")
    for workload, (title, what) in TITLES.items():
        rows = [r for r in results["results"] if r["workload"] == workload]
        absent = list(missing(results, workload))
        if not rows and not absent:
            continue
        out.append(f"<h2>{text(title)}</h2><p>{text(what)}.</p>")
        out += [f"<p class={'fail' if 'failed:' in m else 'note'}>{text(m)}</p>" for m in absent]
        if rows and plt is not None:
            if workload in report.WORKLOADS:
                out += report.draw(plt, results, workload)
            else:
                out.append(plot(plt, rows))
            if drawn := figures.draw(plt, workload, rows):
                out += [f"<p>{text(figures.caption(workload))}</p>", drawn]
        for of, workers, ordered in groups(results):
            if of != workload:
                continue
            shown = columns(ordered)
            out.append(f"<table><tr><th>{workers} worker{'s' if workers > 1 else ''}"
                       + "".join(f"<th>{text(c[0])}" for c in shown))
            for r in ordered:
                own = " class=own" if r["competitor"].startswith("nth") else ""
                out.append(f"<tr{own}><td>{text(label(r))}" + "".join(f"<td>{cell(r, c[1], c[2])}" for c in shown))
            out.append("</table>")
    return "\n".join(out) + "\n"
