"""How the programs of programs/ are made: by nth-cc and its like, or by plain compilers, and run."""
import json
import os
import pathlib
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
PLAIN = "plain"
NETLIB = ("/usr/lib/x86_64-linux-gnu/lapack/liblapack.a", "/usr/lib/x86_64-linux-gnu/blas/libblas.a")

# Sources, libraries, compiler, and NTH_STACK_SIZE with small stacks: frames whose size is only known at run time go on
# stacks of that size, and GMP's and these automatic arrays take more than the default of 64 KiB. Without small stacks all
# have 1 MiB: expat's tree is walked by 10,000 calls.
PROGRAMS = {
    "lua": (("lua.c", "main.c"), ("-l:liblua5.4.a", "-lm", "-ldl"), "cc", None),
    "sqlite": (("sqlite.c", "main.c"), ("-l:libsqlite3.a", "-lm", "-ldl", "-lpthread"), "cc", None),
    "expat": (("expat.c", "main.c"), ("-l:libexpat.a", "-lm"), "cc", None),
    "gmp": (("gmp.c", "main.c"), ("-l:libgmp.a",), "cc", "1M"),
    "lapack": (("lapack.f90", "lapack.c", "main.c"), NETLIB, "fc", "1M"),
    "objects": (("objects.cpp", "main.c"), (), "c++", None),
    "interpreters": (("interpreters.c",), ("-l:liblua5.4.a", "-lm", "-ldl"), "cc", None),
    "edge": (("edge.c",), (), "cc", None),
}
PLAIN_STACK = "1M"
# nth-fc does so by itself: what Fortran's library calls where there are threads, and does not ask a static link for.
FORTRAN_STATIC = [f"-Wl,-u,pthread_{name}" for name in (
    "cond_broadcast", "cond_destroy", "cond_init", "cond_wait", "create", "getspecific", "join", "key_create", "key_delete",
    "mutex_destroy", "mutex_init", "mutex_lock", "mutex_trylock", "mutex_unlock", "self", "setspecific")]
COMPILERS = {"cc": "gcc", "c++": "g++", "fc": "gfortran"}
FLAGS = {".c": ("gcc", "-O2", "-g", "-Wall", "-Wextra"), ".cpp": ("g++", "-std=c++20", "-O2", "-g", "-Wall", "-Wextra"),
         ".f90": ("gfortran", "-O2", "-g", "-fstack-arrays")}


class failed(Exception):
    """A command did not do what it should; says which, and what it said."""


def run(words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, errors="replace", **more)
    if done.returncode != 0:
        raise failed(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done


def link_command(build, name, static, segment, output, objects, more):
    _, libraries, kind, _ = PROGRAMS[name]
    static_word = ["-static"] if static else []
    if segment != PLAIN:
        compiler = pathlib.Path(build, "tools", "stack", "cc", f"nth-{kind}")
        return [compiler, f"--nth-segment={segment}", *more, *static_word, "-o", output, *objects, *libraries]
    lib = pathlib.Path(build, "src")
    nth = ["-lhwloc", "-lnth-no-udev", "-lpthread", "-lm"] if static else [f"-Wl,-rpath,{lib}"]
    nth = [*FORTRAN_STATIC, *nth] if static and kind == "fc" else nth
    return [COMPILERS[kind], *static_word, "-o", output, *objects, *libraries, f"-L{lib}", "-lnth", *nth]


def make(build, folder, name, static, segment, more=()):
    """-> the program, in `folder`; the same objects whatever `segment` is: bytes, or PLAIN. `more`: options of the link"""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in PROGRAMS[name][0]:
        path = SOURCES / source
        objects.append(folder / f"{name}.{source}.o")
        run([*FLAGS[path.suffix], f"-I{SOURCES.parents[2] / 'include'}", "-c", path, "-o", objects[-1]])
    output = folder / f"{name}.{'static' if static else 'dynamic'}.{segment}"
    run(link_command(build, name, static, segment, output, objects, more))
    return output


def environment(name, segment):
    found = {k: v for k, v in os.environ.items() if not k.startswith("NTH_")}
    size = PLAIN_STACK if segment == PLAIN else PROGRAMS[name][3]
    return found if size is None else {**found, "NTH_STACK_SIZE": size}


def says(program, name, segment, *words):
    """-> its standard output, and what it says of its stacks."""
    done = run([program, *words], env=environment(name, segment))
    return done.stdout, json.loads(done.stderr.splitlines()[-1]) if done.stderr else None
