"""Runs the programs: as they are, under lackey with its trace through memory-trace, under callgrind."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

ENVIRONMENT = dict(os.environ)  # stacks are of 64 KiB by default
for _name in ("NTH_STACK_SIZE", "NTH_WORKERS", "NTH_STACK_POLICY", "NTH_BACKLOG"):
    ENVIRONMENT.pop(_name, None)


def command_of(binary, threads, steps, size=None, more=()):
    words = [str(binary.path), "--threads", str(threads), "--steps", str(steps), *binary.words, *more]
    return words + (["--size", str(size)] if size else [])


def checked(done, what):
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, what))}: status {done.returncode}: {(done.stdout or '')[-300:]} "
                           f"{(done.stderr or '')[-300:]}")
    return done.stdout


def native(command):
    """-> what the program says of its run. It ends with an error where its result is wrong."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    return json.loads(checked(done, command))


def traced(build, binary, command, caches, tlbs):
    """-> what the program says, and what memory-trace says of the part between its marks."""
    marks = checked(subprocess.run([binary.path, "--marks"], capture_output=True, text=True, check=False),
                    [binary.path, "--marks"]).split()
    simulator = [pathlib.Path(build, "bench", "memory-trace"), "--json", "--between", *marks]
    simulator += [word for text in caches for word in ("--cache", text)] + [word for text in tlbs for word in ("--tlb", text)]
    read_end, write_end = os.pipe()
    with subprocess.Popen(simulator, stdin=read_end, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as trace:
        os.close(read_end)
        valgrind = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={write_end}", *command, "--unchecked"]
        done = subprocess.run(valgrind, pass_fds=[write_end], capture_output=True, text=True, check=False, env=ENVIRONMENT)
        os.close(write_end)
        out, error = trace.communicate()
    if trace.returncode != 0:
        raise RuntimeError(f"memory-trace: status {trace.returncode}: {error.strip()}")
    return json.loads(checked(done, valgrind)), json.loads(out)


def instructions(command):
    """Of a whole run, by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command, "--unchecked"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        checked(done, words)
        return int(re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.MULTILINE).group(1))
