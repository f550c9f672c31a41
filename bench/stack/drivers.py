"""What the drivers of tables and figures share: their options, a row for each program, pictures."""
import argparse
import json
import pathlib
import sys
import tempfile

import programs


def pyplot_or_none(file):
    """-> matplotlib's pyplot for files; None where it is not installed, which is said for `file`."""
    try:
        import matplotlib
    except ImportError:
        print(f"{file.name} left out: python3-matplotlib is not installed", file=sys.stderr)
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot


def save(figure, file):
    figure.savefig(file.with_suffix(".svg"))
    figure.savefig(file.with_suffix(".png"), dpi=120)


def run(doc, measure, print_table, draw, table, picture):
    """Measures each program that can be run, prints the table, writes `table` and `picture` into --out. -> exit status"""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--arg", action="append", default=[], help="handed to nth-stack report; may be repeated")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for p in programs.PROGRAMS:
            if p.run is None or (options.only and p.name not in options.only):
                continue
            try:
                rows.append(measure(options, p, pathlib.Path(folder)))
            except RuntimeError as error:
                rows.append({"name": p.name, "failed": str(error)})
            print(p.name, rows[-1].get("failed", rows[-1].get("left_out", "")), file=sys.stderr)
    print_table(rows)
    (options.out / table).write_text(json.dumps(rows, indent=1), encoding="utf-8")
    draw(rows, options.out / picture)
    return 1 if any("failed" in r for r in rows) else 0
