"""Tables and figures of `ops` and `model`: paper 003, figures 10 to 13, and its cost model against what was measured."""

from figures import as_svg
from model import equations as eq
from model.values import Values

WORKLOADS = ("ops", "model")
N = 1_000_000  # threads of the predictions
PREDICTED_WORK = (0, 1_000, 10_000, 100_000)  # ns
PREDICTED_WORKERS = [2**k for k in range(1, 11)]
OPERATIONS = ["T_C", "T_C find", "T_E", "T_C held", "T_E held", "T_L+T_S+T_T", "T_C fresh", "T_P"]
FORMS = ["natural", "batch of 8"]
SWEPT = ["T_C", "T_E", "T_P"]
STEPS = ["T_Q recycling", "T_CI", "T_Q put", "T_L", "T_S+T_W", "T_T", "T_Q other"]


def aligned(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return ["  ".join([r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]).rstrip() for r in rows]


def cell(values, name, form, workers):
    r = values.row("ops", f"{name}, {form}", workers)
    return "" if r is None else f"{r['cycles']:.1f} ({r['ns_per_op']:.2f})"


def operations(values):
    """Cycles and, in brackets, ns a thread."""
    head = ["cycles (ns) a thread"] + [f"P = {w}" for w in values.workers]
    rows = [head]
    for form in FORMS:
        for name in OPERATIONS:
            cells = [cell(values, name, form, w) for w in values.workers]
            if any(cells):
                rows.append([f"{name}, {form}", *cells])
    for name in STEPS:
        cells = [cell(values, name, "inside", w) for w in values.workers]
        if any(cells):
            rows.append([f"{name}, inside", *cells])
    if values.split():
        rows.append(["T_S, without T_W", f"({values.split()[1]:.2f})"] + [""] * (len(values.workers) - 1))
    return rows


def sweep(values):
    """ns a thread by the size of the batch."""
    workers = [w for w in values.workers if w <= 2]
    rows = [["threads a batch"] + [f"{name}, P = {w}" for w in workers for name in SWEPT]]
    for b in values.batches():
        cells = [values.op(name, f"batch of {b}", w) for w in workers for name in SWEPT]
        rows.append([str(b)] + ["" if c is None else f"{c:.2f}" for c in cells])
    return rows


def error(predicted, measured):
    return f"{predicted:,.1f} ({100 * (predicted / measured - 1):+.0f} %)"


def validation(values, cores):
    """ns a thread, predicted and measured, at as many workers as there are cores at most."""
    rows = [["P, T_W ns", "grain", "measured", "paper, as printed", "paper, corrected", "nth"]]
    for p in (w for w in values.workers if 2 <= w <= cores and values.complete(w)):
        for r in values.measured(p):
            n, t_w, t_p = r["n"], r["work_ns"], r["ns_per_op"]
            fine = values.drain(p) + t_w < (p - 1) * values.asked(p)
            rows.append([f"{p}, {r['work_ns']:,.0f}", "fine, eq. 3" if fine else "coarse, eq. 5", f"{t_p:,.1f}",
                         error(values.by_paper(n, p, t_w) / n, t_p),
                         error(values.by_paper(n, p, t_w, eq.corrected) / n, t_p),
                         error(values.by_ours(n, p, t_w) / n, t_p)])
    return rows


def predictions(values):
    """T_P in ms of N threads; [(T_W, [(P, as printed, corrected, nth)])]"""
    cores = max((w for w in values.workers if w <= 2 and values.complete(w)), default=0)
    if cores < 2 or values.split() is None or values.fresh() is None:
        return []
    found = []
    for t_w in PREDICTED_WORK:
        lines = []
        for p in PREDICTED_WORKERS:
            lines.append((p, values.by_paper_at(N, p, t_w) / 1e6,
                          values.by_paper_at(N, p, t_w, formula=eq.corrected) / 1e6,
                          values.by_ours(N, p, t_w + values.empty_work(2), at=2) / 1e6))
        found.append((t_w, lines))
    return found


def as_text(results):
    values = Values(results)
    out = []
    if values.workers:
        out += ["", "Operations of a thread", "", *aligned(operations(values))]
    if len(values.batches()) > 1:
        out += ["", "By the size of the batch, ns a thread", "", *aligned(sweep(values))]
    checked = validation(values, results["machine"]["cores"])
    if len(checked) > 1:
        out += ["", "The cost model against what was measured, ns a thread", "", *aligned(checked)]
    for t_w, lines in predictions(values):
        rows = [["P", "paper, as printed", "paper, corrected", "nth"]]
        rows += [[str(p)] + [f"{t:,.1f}" for t in times] for p, *times in lines]
        out += ["", f"Predicted: T_P in ms of {N:,} threads that work {t_w:,} ns", "", *aligned(rows)]
    return "\n".join(out) + "\n" if out else ""


# ---- Figures -----------------------------------------------------------------------------------------------


def bars(axes, values, names, forms, title):
    """Cycles by workers, a colour for each operation and form."""
    series = [(name, form) for name in names for form in forms
              if any(values.row("ops", f"{name}, {form}", w) for w in values.workers)]
    thick = 0.8 / max(1, len(series))
    for i, (name, form) in enumerate(series):
        at = [k for k, w in enumerate(values.workers) if values.row("ops", f"{name}, {form}", w)]
        cycles = [values.row("ops", f"{name}, {form}", values.workers[k])["cycles"] for k in at]
        drawn = axes.bar([k + thick * (i - (len(series) - 1) / 2) for k in at], cycles, thick * 0.92, label=f"{name}, {form}")
        axes.bar_label(drawn, [f"{c:.3g}" for c in cycles], fontsize=6.5)
    axes.set_xticks(range(len(values.workers)), values.workers)
    axes.set_xlabel("workers")
    axes.set_ylabel("cycles a thread")
    axes.set_title(title)
    axes.legend(frameon=False, fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def draw_operations(plt, values):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6))
    bars(left, values, ["T_C", "T_E"], FORMS, "to create and to enqueue (figures 10 and 12)")
    bars(right, values, ["T_L+T_S+T_T"], FORMS, "to look up, start and end (figures 11 and 13)")
    yield as_svg(plt, figure)
    sizes = values.batches()
    if len(sizes) < 2:
        return
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharex=True)
    for at, name in zip(axes, SWEPT):
        for w in values.workers:
            points = [(b, values.op(name, f"batch of {b}", w)) for b in sizes]
            points = [(b, ns) for b, ns in points if ns is not None]
            at.plot(*zip(*points), marker=".", label=f"{w} worker{'s' if w > 1 else ''}")
        at.set_xscale("log", base=2)
        at.set_ylim(bottom=0)
        at.set_xlabel("threads a batch")
        at.set_title(f"{name}, ns a thread")
        at.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=7)
    yield as_svg(plt, figure)


def draw_model(plt, values, cores):
    for p in (w for w in values.workers if 2 <= w <= cores and values.complete(w)):
        rows = values.measured(p)
        if not rows:
            continue
        figure, axes = plt.subplots(figsize=(7, 3.4))
        for label, of in (("paper, as printed", lambda r: values.by_paper(r["n"], p, r["work_ns"])),
                          ("paper, corrected", lambda r: values.by_paper(r["n"], p, r["work_ns"], eq.corrected)),
                          ("nth", lambda r: values.by_ours(r["n"], p, r["work_ns"]))):
            axes.plot([r["work_ns"] for r in rows], [of(r) / r["n"] / r["ns_per_op"] for r in rows], marker=".", label=label)
        axes.axhline(1, color="black", linewidth=0.6)
        axes.set_xscale("log")
        axes.set_xlabel("T_W, ns")
        axes.set_ylabel("predicted / measured")
        axes.set_title(f"T_P of {rows[0]['n']:,} threads at {p} workers")
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        yield as_svg(plt, figure)
    found = predictions(values)
    if not found:
        return
    figure, axes = plt.subplots(1, len(found), figsize=(12, 3))
    for at, (t_w, lines) in zip(axes, found):
        for i, label in enumerate(("paper, as printed", "paper, corrected", "nth")):
            at.plot([line[0] for line in lines], [line[i + 1] for line in lines], marker=".", label=label)
        at.set_xscale("log", base=2)
        at.set_yscale("log")
        at.set_xlabel("workers")
        at.set_title(f"T_W {t_w / 1000:g} µs: T_P in ms", fontsize=8)
        at.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=7)
    yield as_svg(plt, figure)


def draw(plt, results, workload):
    values = Values(results)
    if workload == "ops":
        return list(draw_operations(plt, values))
    return list(draw_model(plt, values, results["machine"]["cores"]))
