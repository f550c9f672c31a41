"""The programs of the tables: where they are, how those are built that are linked here, how they are run."""
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SUBJECTS = HERE / "subjects"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")


class program:
    """kind: "static" (linked here, libraries and all), "debian" (as packaged), "library" (a shared object)."""

    def __init__(self, name, kind, what, path=None, build=None, run=None, stdin=None, needs=()):
        self.name, self.kind, self.what = name, kind, what
        self.path = path and pathlib.Path(path)
        self.build, self.run, self.stdin, self.needs = build, run, stdin, needs

    def get(self, folder):
        """-> its path, built if need be; None and the reason where it is not there."""
        if self.build is None:
            found = self.path if self.path.is_absolute() else shutil.which(str(self.path))
            if not found or not pathlib.Path(found).exists():
                return None, f"{self.path} is not installed"
            return pathlib.Path(os.path.realpath(found)), ""
        missing = [n for n in self.needs if not pathlib.Path(n).exists()]
        if missing:
            return None, f"{missing[0]} is not installed"
        out = folder / self.name
        command = [w.replace("@", str(SUBJECTS) + "/") for w in self.build] + ["-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        # The linker warns of functions that load libraries, which a static program then does.
        return (out, "") if done.returncode == 0 else (None, done.stderr.strip().splitlines()[-1])


def c(name, what, *libraries, **more):
    words = ["gcc", "-O2", "-static", f"@{name}.c", *map(str, libraries)]
    return program(name, "static", what, build=words, needs=[l for l in libraries if str(l).startswith("/")], **more)


def lib(file, folder=""):
    return str(LIBRARIES / folder / file)


GCC = pathlib.Path("/usr/lib/gcc/x86_64-linux-gnu/12")

PROGRAMS = [
    # Fortran
    program("sor", "static", "Fortran, red-black relaxation", build=["gfortran", "-O2", "-static", "@sor.f90"], run=["{}"]),
    program("lapack", "static", "Fortran, LAPACK and BLAS",
            build=["gfortran", "-O2", "-static", "@lapack.f90", lib("liblapack.a", "lapack"), lib("libblas.a", "blas")],
            needs=[lib("liblapack.a", "lapack")], run=["{}"]),
    # C
    c("numbers", "C, libc and libm", "-lm", run=["{}"]),
    c("zlib", "C, zlib", lib("libz.a"), run=["{}"], stdin="script.lua"),
    c("expat", "C, expat", lib("libexpat.a"), run=["{}"], stdin="document.xml"),
    c("gmp", "C and assembly, GMP", lib("libgmp.a"), run=["{}", "500"]),
    c("lua", "C, Lua 5.4", "-I/usr/include/lua5.4", lib("liblua5.4.a"), "-lm", run=["{}", "@script.lua"]),
    c("sqlite", "C, SQLite", lib("libsqlite3.a"), "-lm", run=["{}", "@statements.sql"]),
    program("busybox", "debian", "C, static", "busybox", run=["{}", "awk", "{n[$1]++} END {for (w in n) print n[w], w}",
                                                              "@script.lua"]),
    program("dash", "debian", "C, shell", "dash", run=["{}", "@script.sh"]),
    program("compress", "debian", "C, Lempel-Ziv", "compress", run=["{}", "-c", "@script.lua"]),
    program("sc", "debian", "C, spreadsheet", "sc"),
    program("lua5.4", "debian", "C, Lua", "lua5.4", run=["{}", "@script.lua"]),
    program("sqlite3", "debian", "C, SQLite", "sqlite3", run=["{}", ":memory:", ".read @statements.sql"]),
    program("tex", "debian", "C from Pascal", "tex"),
    program("ngspice", "debian", "C, circuits", "ngspice", run=["{}", "-b", "@circuit.cir"]),
    program("cc1", "debian", "C++, GNU C compiler", GCC / "cc1", run=["{}", "-quiet", "-imultiarch", "x86_64-linux-gnu", "-O2", "@small.c", "-o", "/dev/null"]),
    program("cc1plus", "debian", "C++, GNU C++ compiler", GCC / "cc1plus"),
    # C++
    program("words", "static", "C++, libstdc++", build=["g++", "-O2", "-static", "@words.cpp"], run=["{}"],
            stdin="page.ms"),
    program("troff", "debian", "C++, groff's formatter", "troff", run=["{}", "-ms", "-Tascii", "@page.ms"]),
    # Libraries
    program("libm", "library", "C", lib("libm.so.6")),
    program("libz", "library", "C", lib("libz.so.1")),
    program("libexpat", "library", "C", lib("libexpat.so.1")),
    program("libgmp", "library", "C and assembly", lib("libgmp.so.10")),
    program("libblas", "library", "Fortran", lib("libblas.so.3", "blas")),
    program("liblapack", "library", "Fortran", lib("liblapack.so.3", "lapack")),
    program("libsqlite3", "library", "C", lib("libsqlite3.so.0")),
    program("libc", "library", "C", lib("libc.so.6")),
    program("libstdc++", "library", "C++", lib("libstdc++.so.6")),
    program("libgfortran", "library", "C and Fortran", lib("libgfortran.so.5")),
]

# What the paper has and this system has not.
ABSENT = {"espresso": "no Debian package of the logic minimiser", "cfront, idl": "not free, and gone",
          "SPEC92, Perfect, SPLASH": "not free; LAPACK, relaxation, Lua and ngspice stand for them"}


def write_document():
    """A document for expat: the same each time."""
    lines = ["<?xml version='1.0'?>", "<!DOCTYPE d [<!ENTITY e 'an entity'>]>", "<d>"]
    for i in range(400):
        lines.append(f"<item n='{i}' name='item &amp; {i * 7919 % 1009}'><b>text &e; &#{65 + i % 26};</b>"
                     f"<![CDATA[{'<' * (i % 7)}]]>{'<deep>' * (i % 9)}{'</deep>' * (i % 9)}</item>")
    lines.append("</d>")
    return "\n".join(lines)


def command_of(p, path, folder):
    """-> words and the file for standard input (None: none), to run the program."""
    words = [str(path) if w == "{}" else w.replace("@", str(SUBJECTS) + "/") for w in p.run]
    if p.stdin is None:
        return words, None
    if p.stdin == "document.xml":
        (folder / "document.xml").write_text(write_document(), encoding="utf-8")
        return words, folder / "document.xml"
    return words, SUBJECTS / p.stdin
