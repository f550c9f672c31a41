#!/usr/bin/env python3
"""command_test.py NTH_STACK CC: the command as users run it: what it writes, and with which status."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

nth_stack, cc = sys.argv[1:3]
# The programs have no libc, so that each of many runs of the tool takes little time.

PROGRAM = """
__attribute__((noinline)) int leaf(int x) { return 3 * x; }
int (*volatile choice)(int) = leaf; /* in .data: valgrind wants a program to have some */
__attribute__((noinline)) int middle(int x) { volatile int y[SIZE]; y[x & 7] = leaf(x); return y[x & 7] + leaf(x); }
__attribute__((noinline)) int again(int x) { return x < 1 ? 1 : again(x - 1) + leaf(x) + again(x - 2); }
__attribute__((noinline)) int any(int x) { __asm__ volatile("" ::: "memory"); return choice(x) + 1; }
int main(int argc) { choice = leaf; return (middle(argc) + again(9) + any(argc)) & 1; }
__attribute__((force_align_arg_pointer, noreturn)) void _start(void) {
  __asm__ volatile("syscall" : : "a"(60), "D"(main(1)));
  __builtin_unreachable();
}
"""


def run(*words, status=0, folder=None):
    done = subprocess.run([nth_stack, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=folder, timeout=60, check=False)
    if done.returncode != status:
        sys.exit(f"nth-stack {' '.join(map(str, words))}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def expect(what, truth, *more):
    if not truth:
        sys.exit(f"{what}: {more}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "program.c").write_text(PROGRAM)
    for size in (8, 80):
        subprocess.run([cc, "-O2", "-fno-optimize-sibling-calls", "-fno-stack-protector", f"-DSIZE={size}", "-static",
                        "-nostdlib", "-o", folder / f"p{size}", folder / "program.c"], check=True)
    program = folder / "p8"

    # The table, and what is written in its place.
    table, _ = run("report", program)
    expect("table", table.startswith("function ") and "\nmiddle " in table and "\nagain " in table, table)
    expect("top", len(run("report", program, "--top", 2)[0]) < len(table))
    out, _ = run("report", program, "--json", "-")
    report = json.loads(out)
    functions = {f["name"]: f for f in report["functions"]}
    middle = functions["middle"]
    expect("proved", middle["certainty"] == "proved" and middle["need"] > middle["frame"] >= 48, middle)
    expect("chain", [link["name"] for link in middle["chain"]][0] == "middle" and
           sum(link["depth"] for link in middle["chain"]) == middle["need"], middle)
    expect("recursion", functions["again"]["need"] is None and functions["again"]["segment"] > 0 and
           functions["again"]["back_edges"], functions["again"])
    charged = json.loads(run("report", program, "--json", "-", "--signal-frame", "4K")[0])
    expect("signal frame", {f["name"]: f for f in charged["functions"]}["middle"]["need"] == middle["need"] + 4096 + 128)
    expect("chain", "deepest" in run("report", program, "--chain", "middle")[0])
    expect("blocks", "nothing that blocks" in run("report", program, "--blocks", "leaf")[0])
    expect("count", "back edges" in run("report", program, "--count")[0])
    expect("address", "middle" in run("report", program, "--chain", middle["address"])[0])
    out, _ = run("report", program, "--json", "a.json", "--html", "a.html", "--dot", "a.dot", "--root", "middle", folder=folder)
    expect("nothing on stdout when files were asked for", out == "", out)
    expect("files", (folder / "a.html").stat().st_size > 20000 and "digraph" in (folder / "a.dot").read_text())
    expect("roots", {f["name"] for f in json.loads((folder / "a.json").read_text())["functions"]} == {"middle", "leaf"})

    # Checks.
    roots = folder / "roots.txt"
    roots.write_text(f"middle\nleaf {functions['leaf']['need']}  # just enough\n")
    expect("check", run("report", program, "--check", roots, "--limit", "4K")[0].count("fine ") == 2)
    out, _ = run("report", folder / "p80", "--check", roots, "--limit", middle["need"], status=1)
    expect("over", "FAILED  middle" in out and "deepest" in out, out)
    roots.write_text("again 1G\n")
    expect("unbounded", "unbounded" in run("report", program, "--check", roots, status=1)[0])
    roots.write_text("midle 1K\n")
    expect("unknown", "middle" in run("report", program, "--check", roots, status=2)[1])
    roots.write_text("middle\n")
    expect("no limit", "--limit" in run("report", program, "--check", roots, status=2)[1])

    # Differences.
    for size in (8, 80):
        run("report", folder / f"p{size}", "--json", folder / f"p{size}.json")
    out, _ = run("diff", folder / "p8.json", folder / "p80.json", status=1)
    expect("diff", "need grew     middle" in out, out)
    run("report", "--diff", folder / "p8.json", folder / "p80.json", status=1)
    run("diff", folder / "p8.json", folder / "p80.json", "--root", "leaf")
    run("diff", folder / "p80.json", folder / "p8.json")

    # Libraries that lie where the user says.
    (folder / "inner.c").write_text("long inner(long x) { volatile char y[1000]; y[x & 7] = x; return y[x & 3]; }")
    (folder / "outer.c").write_text("long inner(long x); long outer(long x) { return inner(x) + 1; }")
    (folder / "user.c").write_text("long outer(long x); long use(long x) { return outer(x) + 1; }")
    links = {"inner": [], "outer": ["inner/libinner.so"], "user": ["outer/libouter.so"]}
    for name, libraries in links.items():
        (folder / name).mkdir()
        subprocess.run([cc, "-O2", "-fPIC", "-shared", "-nostdlib", "-fno-stack-protector", "-Wl,-z,now",
                        f"-Wl,-soname,lib{name}.so,--allow-shlib-undefined", "-o", f"{name}/lib{name}.so", f"{name}.c",
                        *libraries], cwd=folder, check=True)
    user = folder / "user/libuser.so"

    def need_of_use(*words):
        out, error = run("report", user, "--json", "-", *words, folder=folder)
        report = json.loads(out)
        need = {f["name"]: f["need"] for f in report["functions"]}["use"]
        expect("what is missing is told", all(library in error for library in report["missing"]), report, error)
        return need, report["missing"], [m["path"] for m in report["modules"][1:]]

    expect("no library", need_of_use() == (None, ["libouter.so"], []), need_of_use())
    expect("one library", need_of_use("--library-path", "outer")[:2] == (None, ["libinner.so"]))
    need, missing, paths = need_of_use("--library-path", "nowhere", "--library-path", "outer", "--library-path",
                                       folder / "inner")
    expect("both libraries", 1000 < need < 1200 and missing == [], need, missing)
    expect("where they lie", paths == ["outer/libouter.so", str(folder / "inner/libinner.so")], paths)
    # The first folder that has it counts, before what the library itself says.
    (folder / "inner.c").write_text("long inner(long x) { volatile char y[3000]; y[x & 7] = x; return y[x & 3]; }")
    (folder / "other").mkdir()
    subprocess.run([cc, "-O2", "-fPIC", "-shared", "-nostdlib", "-fno-stack-protector", "-o", "other/libinner.so",
                    "inner.c"], cwd=folder, check=True)
    order = ["--library-path", "outer", "--library-path", "other", "--library-path", "inner"]
    expect("the first counts", need_of_use(*order)[0] > 3000, need_of_use(*order))
    run("report", user, "--library-path", status=2)

    # A run.
    if shutil.which("valgrind"):
        subprocess.run(["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={folder}/run", program],
                       stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        run("report", program, "--profile", folder / "run", "--json", folder / "run.json")
        profile = json.loads((folder / "run.json").read_text())["profile"]
        # again(9) enters itself 2 * fib-like(9) times; these alone are backward in the program.
        expect("profile", profile["backward"] >= 176 and profile["indirect"] >= 1 and profile["forward"] > 0, profile)
        in_program = [m for m in profile["missing"] if m["caller"] in functions]
        expect("every executed call of the program is in the graph", not in_program, in_program)
    else:
        print("no valgrind here: --profile is not tested with a run")

    # Bad input and usage.
    (folder / "text").write_text("this is no ELF file, but it is long enough to be read as one: " + "x" * 200)
    (folder / "empty").write_bytes(b"")
    (folder / "cut").write_bytes(program.read_bytes()[:3000])
    for words in (["report", folder / "nowhere"], ["report", folder / "text"], ["report", folder / "empty"],
                  ["report", folder], ["report", program, "--root", "nobody"], ["report", program, "--chain", "nobody"],
                  ["report", program, "--json", folder / "no" / "where"], ["report", program, "--profile", folder / "text"],
                  ["report", program, "--check", folder / "nowhere", "--limit", 1], ["report", program, "--sort", "size"],
                  ["report", program, "--limit", "4K"], ["report", program, "--signal-frame", "much"],
                  ["report", program, "--top", "-1"], ["frob"], ["report", program, "--notes", folder], ["diff", folder / "text", folder / "text"],
                  ["diff", folder / "p8.json"], ["report"], []):
        out, error = run(*words, status=2)
        expect("a message", error + out != "" and "terminate" not in error, words)
    expect("cut short", "is cut short" in run("report", folder / "cut", status=2)[1])
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([nth_stack, "report", program], stdout=full, stderr=subprocess.PIPE, check=False)
        expect("a full disk", done.returncode == 2 and b"standard output" in done.stderr, done)
    expect("version", run("--version")[0].startswith("nth-stack "))
    expect("help", "--signal-frame" in run("report", "--help")[0] and "Examples" in run("--help")[0])
