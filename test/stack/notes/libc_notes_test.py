#!/usr/bin/env python3
"""libc_notes_test.py NTH_STACK CC GLIBC_NOTES: nth-stack's notes on glibc meet the functions that they are about.

They name a function as its source does; libc.so.6 shows another name of the same place, or none but in its debug package.
"""
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

nth_stack, cc, notes = sys.argv[1:4]


def report(*words):
    done = subprocess.run([nth_stack, "report", *map(str, words), "--all-modules", "--json", "-"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def subjects_of(text):
    """The functions that entries are about, and those that they name; without libgcc's, which may not be loaded."""
    about, named = set(), set()
    for line in text.splitlines():
        entry = line.split(' because "')[0].split()
        if entry[:1] != ["function"]:
            continue
        about.add(entry[1])
        for words in ("calls only", "never calls"):
            if words in line:
                named |= {n.rstrip("?") for n in " ".join(entry).split(words)[1].split()} - {"proved"}
    # libgcc's, which may be a part of the program
    of_unwinder = {"execute_cfa_program"}
    return ({n for n in names - of_unwinder if not n.startswith("_Unwind_")} for names in (about, named))


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "p.c").write_text('#include <math.h>\n#include <stdio.h>\n'
                                'int main(int n, char **v) { return printf("%s %f", v[0], cos(n)); }\n')
    subprocess.run([cc, "-fno-builtin", folder / "p.c", "-o", folder / "p", "-lm"], check=True)
    found = report(folder / "p")
    functions, assumptions = found["functions"], found["assumptions"]
    known = {}
    for f in functions:
        for each in (f["symbol"], f["name"], *f["aliases"]):
            known.setdefault(re.sub(r"\.(isra|part|constprop|cold)\b.*", "", each), []).append(f)
    if "__libc_message" not in known:
        print("libc.so.6 has no names for its own functions here: its debug package is not installed")
        sys.exit(77)

    text = pathlib.Path(notes).read_text(encoding="utf-8")
    about, named = subjects_of(text)
    absent = sorted(n for n in about | named if n not in known and not n.endswith("*"))
    if absent and f"glibc {platform.libc_ver()[1]}:" in text:
        sys.exit(f"notes on what is not in this glibc: {absent}")
    hidden = sorted(n for n in about if n in known and all(n not in (f["symbol"], f["name"]) for f in known[n]))
    print(f"{len(about)} functions, of which other names are shown: {hidden}; not there: {absent}")
    # One that is shown as __GI_____strtod_l_internal.
    for f in known["____strtod_l_internal"]:
        if not any("____strtod_l_internal needs" in assumptions[i] for i in f["assumptions"]):
            sys.exit(f"the note on ____strtod_l_internal is not used: {f}")
