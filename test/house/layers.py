#!/usr/bin/env python3
"""Includes go down only: layers.py <root of the project>.

src/README.md lists the layers, bottom up, as lines "- `name/` …"; an include of a higher layer than
the file's own is an error. So is one that cannot be judged: of a file that does not exist, or by "..".
Installed headers may include installed headers alone.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
LAYER = re.compile(r"^- `([a-z_]+)/`", re.MULTILINE)
SUFFIXES = {".h", ".hpp", ".cpp", ".c", ".S"}


def check_file(path, layer, rank, src, include):
    """Yields a sentence for each include of `path` that must not be."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if ".." in name.split("/"):
            yield f'"{name}": an include names its layer, not a way through ".."'
        elif (include / name).exists():
            continue
        elif layer is None:
            yield f'"{name}": an installed header includes installed headers only'
        elif (src / name).exists():
            other = name.split("/")[0]
            if other not in rank:
                yield f'"{name}": "{other}" is no layer of src/README.md'
            elif rank[other] > rank[layer]:
                yield f'"{name}": {layer} lies below {other}'
        elif not (path.parent / name).exists():
            yield f'"{name}": no such file in src/ or include/'


def main():
    root = pathlib.Path(sys.argv[1])
    src, include = root / "src", root / "include"
    layers = LAYER.findall((src / "README.md").read_text(encoding="utf-8"))
    if len(layers) < 2:
        sys.exit("layers.py: src/README.md lists no layers")
    rank = {name: position for position, name in enumerate(layers)}

    files = [(path, None) for path in include.rglob("*")]
    for folder in sorted(entry for entry in src.iterdir() if entry.is_dir()):
        if folder.name not in rank:
            sys.exit(f"layers.py: src/{folder.name} is not listed in src/README.md")
        files += [(path, folder.name) for path in folder.rglob("*")]

    files = [(path, layer) for path, layer in files if path.suffix in SUFFIXES]
    errors = [
        f"{path.relative_to(root)}: {what}"
        for path, layer in sorted(files)
        for what in check_file(path, layer, rank, src, include)
    ]
    print("\n".join(errors) if errors else f"{len(files)} files, {len(layers)} layers: includes go down only")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
