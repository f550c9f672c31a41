#!/usr/bin/env python3
"""page_test.py NTH_STACK PAGE_SUBJECT CC: opens pages in a browser without window and lets them test themselves."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

nth_stack, page_subject, cc = sys.argv[1:4]
browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if browser is None:
    print("no chromium here: pages are not tested (scripts/install-deps.sh test installs it)")
    sys.exit(77)

PROGRAM = """
struct tree { struct tree *left, *right; int value; };
static int sum(struct tree *t) { return t ? t->value + sum(t->left) + sum(t->right) : 0; }
static int twice(int x) { return 2 * x; }
int doubled(int x) __attribute__((alias("twice")));
static int thrice(int x) { volatile char room[300]; room[x & 255] = 3; return room[x & 255] * x; }
int (*volatile choice)(int) = twice;
int main(int argc, char **argv) {
  (void)argv;
  struct tree leaf = {0, 0, 7}, root = {&leaf, &leaf, 1};
  choice = argc > 2 ? thrice : twice;
  return sum(&root) + choice(argc);
}
"""


def test(page, width, height, folder):
    """What the page says of itself at this size; its console must be silent."""
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={folder}/browser",
         f"--window-size={width},{height}", "--virtual-time-budget=60000", "--dump-dom", f"file://{page}#test"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=100, check=False)
    result = re.search(r'<pre id="test-result">(.*?)</pre>', done.stdout, re.S)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    what = f"{page.name} at {width}x{height}"
    if result is None:
        sys.exit(f"{what}: no result\n{done.stderr[-2000:]}")
    fine = re.match(r"test: fine, (\d+) checks", result.group(1))
    if fine is None or int(fine.group(1)) < 25 or console:
        sys.exit(f"{what}: {result.group(1)}\n" + "\n".join(console))
    print(f"{what}: {fine.group(0)}")


with tempfile.TemporaryDirectory() as folder_name:
    folder = pathlib.Path(folder_name)
    small, large, real = folder / "small.html", folder / "large.html", folder / "real.html"
    subprocess.run([page_subject, small, "200"], check=True)
    subprocess.run([page_subject, large, "60000"], check=True)
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run([cc, "-O1", "-o", folder / "program", folder / "program.c"], check=True)
    subprocess.run([nth_stack, "report", folder / "program", "--html", real], check=True)
    test(small, 1400, 900, folder)
    test(small, 375, 800, folder)
    test(large, 1400, 900, folder)
    test(real, 375, 800, folder)
    # A page that is wrong must be seen: a function that the list can't show.
    text = small.read_text(encoding="utf-8")
    broken = folder / "broken.html"
    broken.write_text(text.replace("place: (i) => 'f' + i", "place: (i) => 'f' + (i + 1)"), encoding="utf-8")
    try:
        test(broken, 1400, 900, folder)
    except SystemExit as seen:
        print("broken page:", str(seen).splitlines()[0])
    else:
        sys.exit("a broken page tests as fine")
