#!/usr/bin/env python3
"""progress_test.py NTH_STACK CC: the line that tells on a terminal how far a long analysis is.

It appears after a second of analysis, and the analysis here is short: it is stopped in its midst until that second is
over.
"""
import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

nth_stack, cc = sys.argv[1:3]
PATIENCE = 1.2  # seconds
TRIES = 40


def run_stopped(program, delay, stderr, **environment):
    """Stops the command once, `delay` seconds after its start."""
    tool = subprocess.Popen([nth_stack, "report", program], stdout=subprocess.DEVNULL, stderr=stderr,
                            env={**os.environ, "TERM": "xterm", **environment})
    time.sleep(delay)
    tool.send_signal(signal.SIGSTOP)
    time.sleep(PATIENCE)
    tool.send_signal(signal.SIGCONT)
    if tool.wait(timeout=60) != 0:
        sys.exit(f"nth-stack ended with {tool.returncode}")


def on_terminal(program, delay, columns, **environment):
    """What a terminal gets to see."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    run_stopped(program, delay, theirs, **environment)
    os.close(theirs)
    seen = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # nobody writes any more
            some = b""
        if not some:
            os.close(ours)
            return seen.decode()
        seen += some


def drawn_on(program, columns):
    """What is drawn, and after which delay the command was in the midst of its analysis, as busy as the machine is."""
    for i in range(TRIES):
        delay = 0.01 + 0.02 * (i % 20)
        seen = on_terminal(program, delay, columns)
        if seen != "":
            return seen, delay
    sys.exit(f"no progress is shown on {columns} columns, whenever the command is stopped")


def check_lines(seen, columns):
    *lines, last, end = seen.split("\r")
    if (last, end) == ("", "") or end != "\033[K":
        sys.exit(f"the line stays: {seen!r}")
    for line in [*lines[1:], last]:
        text = line.removesuffix("\033[K")
        if not re.match(r"\[#*\.*", text) or len(text) >= columns or not line.endswith("\033[K"):
            sys.exit(f"on {columns} columns: {line!r}")
        if columns >= 100 and not re.fullmatch(r"\[#*\.*\] \d+/\d+ [-+.\w]+", text):
            sys.exit(f"not the whole: {line!r}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "p.c").write_text('#include <stdio.h>\nint main(void) { return printf("%d", 1); }\n')
    program = folder / "p"
    subprocess.run([cc, "-O2", folder / "p.c", "-o", program], check=True)

    delay = 0
    for columns in (20, 60, 80, 100):
        seen, delay = drawn_on(program, columns)
        check_lines(seen, columns)
    if on_terminal(program, delay, 100, TERM="dumb") != "":
        sys.exit("something is drawn on a terminal that can't take it back")
    with open(folder / "stderr", "wb") as file:
        run_stopped(program, delay, file)
    if (folder / "stderr").read_bytes() != b"":
        sys.exit(f"stderr is no terminal, but gets {(folder / 'stderr').read_bytes()}")
