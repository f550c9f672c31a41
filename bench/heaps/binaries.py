"""How a program is made whose threads run on stacks of one kind."""
import json
import pathlib

ROOT = "heaps_thread"
KINDS = ("64K", "small")


class binary:
    """path and words: what to run; need: bytes of stack of a thread's root, None on stacks of 64 KiB; how: in a few words."""

    def __init__(self, path, words=(), need=None, how=""):
        self.path, self.words, self.need, self.how = path, list(words), need, how


def need_of_root(report):
    """What the linked program's table says of the root; an exception where it has no bound."""
    for root in json.loads(report.read_text())["roots"]:
        if root["function"] == ROOT:
            if "need" not in root:
                raise RuntimeError(f"{report}: {ROOT} has no bound: {root['reason']}")
            return root["need"]
    raise RuntimeError(f"{report}: there is no {ROOT}")


def make(build, program, kind):
    """The one place that knows how: the same sources, linked as ever or with small stacks (bench/heaps.cmake)."""
    folder = pathlib.Path(build, "bench")
    path = folder / (f"heaps_{program}" if kind == "64K" else f"heaps_{program}_small")
    if not path.exists():
        raise RuntimeError(f"{path} is missing: configure and build the project with its benchmarks first")
    if kind == "64K":
        return binary(path, how="one class for all threads, of 64 KiB")
    return binary(path, [], need_of_root(path.with_suffix(".json")), "linked with small stacks, --nth-segment=1K")
