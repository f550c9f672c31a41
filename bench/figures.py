"""Figures 7, 8 and 9 of paper 003: time of Empty and of Livermore kernels 6 and 21 over the number of workers."""

import io

LOOP = {"nth, equal": "Equal", "nth, natural": "Natural", "nth, batch": "Batch", "nth, parallel_for": "nth_parallel_for"}
# Number, title, and what of nth: as it is in the results (competitor, variant), and in the paper.
FIGURES = {
    "empty": (7, "Empty", {"nth": "Natural", "nth-batch": "Batch"}),
    "livermore6": (8, "Loop 6", LOOP),
    "livermore21": (9, "Loop 21", LOOP),
}
PEERS = {"livermore6": ("gnu-openmp", "llvm-openmp", "onetbb"), "livermore21": ("gnu-openmp", "llvm-openmp", "onetbb")}
SERIAL = (("as printed", ":"), ("parallel form", "--"), ("by rows", "--"))


def ms(r, field="ns_per_op"):
    return r[field] * r["n"] / 1e6


def as_svg(plt, figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()[out.getvalue().index("<svg"):]


def caption(workload):
    peers = " Of each peer the variant that is fastest at that number of workers." if workload in PEERS else ""
    return (f"As figure {FIGURES[workload][0]} of paper 003: {FIGURES[workload][1]}. Thin lines span the fastest and the "
            f"slowest repetition.{peers}")


def by_workers(rows):
    """{workers: the fastest row}"""
    best = {}
    for r in rows:
        if r["workers"] not in best or r["ns_per_op"] < best[r["workers"]]["ns_per_op"]:
            best[r["workers"]] = r
    return dict(sorted(best.items()))


def is_plain(r):
    """nth as it is by default: neither another policy nor another bound on waiting threads."""
    return r.get("policy") == "dsr" and r.get("backlog") != 0


def identity(r):
    return ", ".join(part for part in (r["competitor"], r["variant"]) if part)


def draw(plt, workload, rows):
    """The workload's figure as SVG text; None where it has none, or nothing for it was run."""
    if workload not in FIGURES:
        return None
    _, title, variants = FIGURES[workload]
    series = [(name, by_workers(r for r in rows if is_plain(r) and identity(r) == own), "o-")
              for own, name in variants.items()]
    series += [(f"{peer}, its fastest", by_workers(r for r in rows if r["competitor"] == peer), "x--")
               for peer in PEERS.get(workload, ())]
    series = [s for s in series if s[1]]
    if not series:
        return None
    figure, axes = plt.subplots(figsize=(7, 4))
    for name, found, style in series:
        values = [ms(r) for r in found.values()]
        spread = [[v - ms(r, "min") for v, r in zip(values, found.values())],
                  [ms(r, "max") - v for v, r in zip(values, found.values())]]
        axes.errorbar(list(found), values, yerr=[[max(0, v) for v in side] for side in spread], fmt=style, label=name,
                      elinewidth=0.8, capsize=2)
    for variant, style in SERIAL:
        for r in rows:
            if r["competitor"] == "serial" and r["variant"] == variant:
                axes.axhline(ms(r), color="grey", linestyle=style, linewidth=0.8, label=f"serial, {variant}")
    ticks = sorted({w for _, found, _ in series for w in found})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(w) for w in ticks])
    axes.minorticks_off()
    axes.set_xlabel("workers")
    if workload == "livermore21":
        axes.set_yscale("log")  # Equal takes many times as long as the others
    else:
        axes.set_ylim(bottom=0)
    axes.set_ylabel("ms")
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return as_svg(plt, figure)
