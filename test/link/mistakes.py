"""What nth-cc does with what it cannot link, and what it leaves alone.

mistakes.py --cc FOLDER --library FOLDER --include FOLDER --work FOLDER"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent / 'programs'


class Place:
    def __init__(self, a, name):
        self.cc = str(pathlib.Path(a.cc) / 'nth-cc')
        self.folder = pathlib.Path(a.work) / name
        self.include = a.include
        self.library = a.library
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def run(self, *words, env=None):
        return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=200, cwd=self.folder,
                              env=os.environ | (env or {}))

    def source(self, text, name='a.c'):
        (self.folder / name).write_text(text)
        return self.folder / name

    def link(self, *words, env=None):
        return self.run(self.cc, '-O1', *words, env=env)

    def sections(self, program):
        return self.run('readelf', '-SW', program).stdout


USES_NTH = '''#include <nth/nth.h>
#include <stdio.h>
static void root(void) { puts("ran"); }
int main(void) {
  if (nth_init(NULL) != NTH_OK) return 1;
  nth_to_lrq(0, nth_create(root, 0, 0, 0));
  return nth_finalize() != NTH_OK;
}
'''


def expect(holds, what, done=None):
    if not holds:
        raise AssertionError(what + (f': status {done.returncode}\n{done.stdout}{done.stderr}' if done else ''))


def loaded(p):
    expect(p.run('gcc', '-O1', '-fPIC', '-shared', HERE / 'plugin.c', '-o', 'plugin.so').returncode == 0, 'the library')
    done = p.link('--nth-segment=1K', HERE / 'loads.c', '-o', 'loads', '-ldl')
    expect(done.returncode == 0, 'it links', done)
    done = p.run('./loads', './plugin.so')
    expect(done.stdout.splitlines() == ['5050 1', '1 1', '1 1 1 1'], 'it runs', done)


def strict(p):
    done = p.link(HERE / 'strict.c', '-o', 'strict')
    expect(done.returncode == 0, 'it links', done)
    expect(p.run('./strict').stdout.count('created') == 3, 'without the option all are created', p.run('./strict'))
    done = p.run('./strict', env={'NTH_STACK_STRICT': '1'})
    lines = done.stdout.splitlines()
    expect(lines[0] == 'bounded: created', 'the root that has a need is created', done)
    expect('no proved need' in lines[1] and 'alloca' in lines[1], 'the reason of the unbounded root', done)
    expect('guarded: nth_create' in lines[2] and 'root' in lines[2], 'the root that calls what has no bound', done)
    jumps = p.source('#include <setjmp.h>\n#include <stdlib.h>\n' + USES_NTH.replace('puts("ran");', 'if (setjmp(b) == 0) down(50);').replace(
        'static void root', 'static jmp_buf b;\nstatic __attribute__((noinline)) long down(long n) { volatile long f[6] = {n}; '
        'if (n == 0) longjmp(b, 1); return down(n - 1) + f[0]; }\nstatic void root').replace(
            'nth_to_lrq', 'if (nth_run(root, 0) == NTH_OK) puts("ran");\n  nth_to_lrq'))
    done = p.link(jumps, '-o', 'jumps')
    expect(done.returncode == 0, 'it links', done)
    done = p.run('./jumps', env={'NTH_STACK_STRICT': '1'})
    expect(done.stdout == 'ran\n', 'a root that jumps has a proved need', done)


def options(p):
    a = p.source(USES_NTH)
    done = p.run(p.cc, '--nth-help')
    expect(done.returncode == 0 and '--nth-segment=SIZE' in done.stdout, 'what options there are', done)
    for word, text in (('--nth-segment=12', 'from 512 to'), ('--nth-segment=', 'from 512'), ('--nth-turns=0', 'from 1 to'),
                       ('--nth-sement=1K', 'no such option'), ('--nth-notes=nowhere.notes', 'nowhere.notes'),
                       ('--nth-profile=nowhere.out', 'nowhere.out'), ('--nth-report=no/folder/r', 'no/folder/r')):
        done = p.link(a, '-o', 'a', word)
        expect(done.returncode != 0 and text in done.stderr, f'{word} is refused with "{text}"', done)
        expect(not (p.folder / 'a').exists(), f'{word} leaves no program')
    done = p.link(a, '-o', 'a', env={'NTH_LINK_OPTIONS': '--nth-verbose --nth-segment=2K'})
    expect(done.returncode == 0 and 'stubs (' in done.stderr, 'options from the environment', done)


def left_alone(p):
    plain = p.source('#include <stdio.h>\nint main(void) { return puts("plain") < 0; }\n', 'plain.c')
    done = p.link(plain, '-o', 'plain')
    expect(done.returncode == 0 and done.stderr == '', 'a program without nth links in silence', done)
    expect('.nth_growth' not in p.sections('plain') and '.rela.text' not in p.sections('plain'), 'it is as ever')
    lib = p.source('int f(int n) { return n + 1; }\n', 'lib.c')
    done = p.link('--nth-segment=1K', '-fPIC', '-shared', lib, '-o', 'lib.so')
    expect(done.returncode == 0 and '.nth_growth' not in p.sections('lib.so'), 'a shared library is as ever', done)
    done = p.link('-c', lib, '-o', 'lib.o')
    expect(done.returncode == 0 and done.stderr == '', 'compiling', done)
    done = p.link('-r', 'lib.o', '-o', 'more.o')
    expect(done.returncode == 0, 'a relocatable link', done)


def sanitized(p):
    a = p.source(USES_NTH)
    done = p.link('-fsanitize=address', a, '-o', 'a')
    expect(done.returncode == 0 and 'sanitizer' in done.stderr, 'it links, and says why it has no small stacks', done)
    expect('.nth_growth' not in p.sections('a'), 'it has no stubs')


def failing_link(p):
    a = p.source('extern int nowhere(void);\n' + USES_NTH.replace('puts("ran")', 'if (nowhere()) puts("ran")'))
    (p.folder / 'a').write_text('as it was')
    done = p.link(a, '-o', 'a')
    expect(done.returncode != 0 and 'nowhere' in done.stderr, 'the linker says what is missing', done)
    expect((p.folder / 'a').read_text() == 'as it was', 'the older program is left as it was')
    leftovers = [f.name for f in p.folder.iterdir() if f.name.startswith('.')]
    expect(leftovers == [], f'no temporary file is left: {leftovers}')


def jumping_library(p):
    lib = p.source('#include <setjmp.h>\nstatic jmp_buf b; int jumps(void (*f)(void (*)(void))); static void out(void) { longjmp(b, 1); }\n'
                   'int jumps(void (*f)(void (*)(void))) { if (setjmp(b)) return 1; f(out); return 0; }\n', 'jumps.c')
    a = p.source('#include <setjmp.h>\n#include <stdio.h>\nint jumps(void (*f)(void (*)(void)));\n'
                 'static __attribute__((noinline)) long down(long n, void (*end)(void)) { volatile long f[10] = {n}; '
                 'if (n == 0) end(); return down(n - 1, end) + f[0]; }\n'
                 'static void back(void (*out)(void)) { down(200, out); }\n'
                 'static jmp_buf b; static void (*volatile jump)(jmp_buf, int) = (void (*)(jmp_buf, int))longjmp;\n'
                 'static void by_pointer(void) { jump(b, 1); }\n'
                 + USES_NTH.replace('puts("ran")', 'for (int i = 0; i < 3; ++i) { if (jumps(back)) puts("ran"); '
                                    'if (setjmp(b) == 0) down(200, by_pointer); else puts("by a pointer"); }'))
    for how in (['-Wl,-z,lazy'], ['-Wl,-z,now'], ['-D_FORTIFY_SOURCE=2'], ['-fno-plt']):
        done = p.run('gcc', '-O1', *how, '-fPIC', '-shared', lib, '-o', 'libjumps.so')
        expect(done.returncode == 0, 'the library', done)
        done = p.link(*(h for h in how if h.startswith(('-D', '-f'))), '-w', '--nth-segment=1K', a, '-o', 'a', '-L.', '-ljumps',
                      '-Wl,-rpath,.')
        expect(done.returncode == 0 and done.stderr == '', 'it links in silence', done)
        done = p.run('./a')
        expect(done.stdout == 'ran\nby a pointer\n' * 3, f'{how}: jumps of a library, and by a pointer', done)
    switches = p.source('#include <ucontext.h>\nint jumps(ucontext_t *a, ucontext_t *b) { return swapcontext(a, b); }\n', 'jumps.c')
    expect(p.run('gcc', '-fPIC', '-shared', switches, '-o', 'libjumps.so').returncode == 0, 'the library')
    a = p.source('#include <stdio.h>\nint jumps(void *, void *); int never;\n'
                 + USES_NTH.replace('puts("ran")', 'if (never) jumps(0, 0); puts("ran")'))
    done = p.link(a, '-o', 'a', '-L.', '-ljumps', '-Wl,-rpath,.')
    expect(done.returncode == 0 and 'libjumps.so leaves functions by setcontext' in done.stderr, 'the library is named', done)


def lazy_library(p):
    calls = range(40)
    lib = p.source('#define D(i) long b##i(long n) { return n + i; } long a##i(long n) { return b##i(n) + 1; }\n'
                   + ''.join(f'D({i})\n' for i in calls), 'lazy.c')
    expect(p.run('gcc', '-O1', '-fPIC', '-shared', '-Wl,-z,lazy', lib, '-o', 'liblazy.so').returncode == 0, 'the library')
    # Calls of what was not called before, on stacks between those of threads that hold words there.
    a = p.source('#include <nth/nth.h>\n#include <stdio.h>\n#include <string.h>\nstatic volatile long wrong, sum;\n'
                 'static void hold(void) { unsigned char words[250]; memset(words, 7, sizeof words); '
                 '__asm__ volatile("" : : "r"(words) : "memory"); nth_block(); '
                 'for (int i = 0; i < 250; ++i) wrong += ((volatile unsigned char *)words)[i] != 7; }\n'
                 + ''.join(f'long a{i}(long n); static void call{i}(void) {{ nth_yield(); sum += a{i}({i}); }}\n' for i in calls)
                 + 'static void (*const call[])(void) = {' + ', '.join(f'call{i}' for i in calls) + '};\n'
                 'static void first(void) { struct nth_desc *s = nth_self(); nth_handle_t held[80]; nth_depadd(s, 121);\n'
                 'for (int i = 0; i < 80; ++i) { struct nth_desc *d = nth_create_ls(hold, 0, s, 0); held[i] = nth_handle(d); '
                 'nth_to_lrq(0, d); } nth_yield();\n'
                 'for (int i = 0; i < 80; i += 2) wrong += nth_unblock(held[i]) != NTH_OK;\nnth_yield();\n'
                 'for (int i = 0; i < 40; ++i) nth_to_lrq(0, nth_create_ls(call[i], 0, s, 0));\nnth_yield(); nth_yield(); nth_yield();\n'
                 'for (int i = 1; i < 80; i += 2) wrong += nth_unblock(held[i]) != NTH_OK;\nnth_block(); }\n'
                 'int main(void) { nth_options o; if (nth_options_init(&o)) return 1; o.workers = 1; '
                 'if (nth_init(&o) || nth_run(first, 0) || nth_finalize()) return 1; printf("%ld %ld\\n", sum, wrong); return 0; }\n')
    done = p.link('--nth-segment=1K', a, '-o', 'a', '-L.', '-llazy', '-Wl,-rpath,.')
    expect(done.returncode == 0, 'it links', done)
    done = p.run('./a')
    expect(done.stdout == '1600 0\n', 'libraries are bound before threads run', done)
    # Its free takes what its malloc gave alone; both are without a version.
    heap = p.source('#include <stdlib.h>\n#include <string.h>\nvoid *__libc_malloc(size_t); void __libc_free(void *);\n'
                    'void *malloc(size_t n) { long *m = __libc_malloc(n + 16); m[0] = n; m[1] = 0x6e7468; return m + 2; }\n'
                    'void free(void *p) { if (p && ((long *)p)[-1] != 0x6e7468) abort(); if (p) __libc_free((long *)p - 2); }\n'
                    'void *calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }\n'
                    'void *realloc(void *p, size_t n) { void *q = malloc(n); size_t old = p ? ((long *)p)[-2] : 0; '
                    'if (p) memcpy(q, p, n < old ? n : old); free(p); return q; }\n'
                    'void *aligned_alloc(size_t a, size_t n) { return a <= 16 ? malloc(n) : 0; }\n'
                    'void *memalign(size_t a, size_t n) { return aligned_alloc(a, n); }\n'
                    'int posix_memalign(void **p, size_t a, size_t n) { return !(*p = aligned_alloc(a, n)); }\n', 'heap.c')
    expect(p.run('gcc', '-O1', '-fno-builtin', '-fPIC', '-shared', heap, '-o', 'libheap.so').returncode == 0, 'the heap')
    done = p.run('./a', env={'LD_PRELOAD': './libheap.so'})
    expect(done.stdout == '1600 0\n', 'what is put before the C library is found', done)


def interrupted(p):
    a = p.source(USES_NTH)
    (p.folder / 'tmp').mkdir()
    slow = p.source('#!/bin/sh\ncase $* in *pool.S*) echo >told; sleep 60 ;; *) exec gcc "$@" ;; esac\n', 'slow')
    slow.chmod(0o755)
    for number in (signal.SIGINT, signal.SIGTERM):
        (p.folder / 'told').unlink(missing_ok=True)
        link = subprocess.Popen([p.cc, a, '-o', 'a'], cwd=p.folder, start_new_session=True, stderr=subprocess.DEVNULL,
                                env=os.environ | {'TMPDIR': str(p.folder / 'tmp'), 'NTH_CC': str(slow)})
        wait_for(lambda: (p.folder / 'told').exists())
        expect(any(f.name.startswith('nth-link') for f in (p.folder / 'tmp').iterdir()), 'it works in a folder of its own')
        os.killpg(link.pid, number)
        expect(link.wait(timeout=60) != 0, f'{number}: it ends')
        wait_for(lambda: not list((p.folder / 'tmp').iterdir()))
        expect(not (p.folder / 'a').exists(), f'{number}: there is no program')


def wait_for(happens):
    for _ in range(600):
        if happens():
            return
        time.sleep(0.05)
    raise AssertionError('it does not happen')


def foreign_profile(p):
    a = p.source(USES_NTH)
    other = p.source('int main(void) { return 0; }\n', 'other.c')
    p.run('gcc', other, '-o', 'other')
    p.run('valgrind', '--tool=callgrind', '--dump-instr=yes', '--callgrind-out-file=run', './other')
    text = (p.folder / 'run').read_text().replace('fn=', 'fn=x').replace('cfn=x', 'cfn=x')
    (p.folder / 'run').write_text(text)
    done = p.link(a, '-o', 'a', '--nth-profile=run')
    expect(done.returncode != 0 and 'profile' in done.stderr, 'a profile of another program is refused', done)


def relinked(p):
    a = p.source(USES_NTH)
    for _ in range(2):
        done = p.link(a, '-o', 'a')
        expect(done.returncode == 0, 'linking over an older program', done)
        expect(p.run('./a').stdout == 'ran\n', 'it runs')
    expect('.rela.text' not in p.sections('a'), 'the kept relocations are gone')


def fixed_pool(p):
    a = p.source(USES_NTH.replace('puts("ran")', 'printf("ran %ld\\n", down(5000))').replace(
        'static void root', 'static __attribute__((noinline)) long down(long n) { volatile char c[50]; c[1] = 1; '
        'return n ? 1 + down(n - 1) + c[1] - 1 : 0; }\nstatic void root'))
    tool = pathlib.Path(p.cc).resolve().parent.parent / 'nth-stack'

    def linked(*room):
        expect(p.run(tool, 'pool', *room, '-o', 'pool.S').returncode == 0, 'the pool is written')
        expect(p.run('gcc', '-c', 'pool.S').returncode == 0, 'it can be assembled')
        words = ['gcc', '-O1', '-I', p.include, a, 'pool.o', '-o', 'a', f'-L{p.library}', '-lnth', f'-Wl,-rpath,{p.library}']
        return words

    words = linked()
    expect(p.run(*words).returncode == 0, 'it links')
    done = p.run(tool, 'patch', 'a')
    expect(done.returncode == 2 and '-Wl,-q' in done.stderr, 'without kept relocations it is refused', done)
    expect(p.run(*words, '-Wl,-q', '-Wl,-z,lazy').returncode == 0, 'it links')
    done = p.run(tool, 'patch', 'a')
    expect(done.returncode == 2 and '-z,now' in done.stderr, 'bound lazily it is refused', done)
    expect(p.run(*words, '-Wl,-q', '-Wl,-z,now').returncode == 0, 'it links')
    done = p.run(tool, 'patch', 'a', '-o', 'b', '--segment', '1K', '--verbose')
    expect(done.returncode == 0 and 'stubs (' in done.stderr, 'it is patched', done)
    expect(p.run('./b').stdout == 'ran 5000\n', 'it runs', p.run('./b'))
    done = p.run(tool, 'patch', 'b')
    expect(done.returncode == 2 and 'already' in done.stderr, 'a second time it is refused', done)
    p.run('strip', 'a', '-o', 'stripped')
    done = p.run(tool, 'patch', 'stripped')
    expect(done.returncode == 2 and 'stripped' in done.stderr, 'stripped it is refused', done)
    expect(p.run(*linked('--stubs', '2', '--needs', '40', '--sites', '40', '--text', '900'), '-Wl,-q', '-Wl,-z,now').returncode
           == 0, 'it links')
    done = p.run(tool, 'patch', 'a')
    expect(done.returncode == 2 and 'pool is too small' in done.stderr, 'a full pool is an error', done)
    done = p.run(tool, 'patch', '/bin/true', '-o', 'c')
    expect(done.returncode == 2 and not (p.folder / 'c').exists(), 'a program without a pool is refused', done)


CASES = (fixed_pool, loaded, strict, options, left_alone, sanitized, failing_link, jumping_library, lazy_library, interrupted, foreign_profile, relinked)


def main():
    parser = argparse.ArgumentParser()
    for word in ('cc', 'library', 'include', 'work'):
        parser.add_argument(f'--{word}', required=True)
    a = parser.parse_args()
    failed = 0
    for case in CASES:
        try:
            case(Place(a, case.__name__))
            print(f'{case.__name__}: fine', flush=True)
        except AssertionError as error:
            failed += 1
            print(f'{case.__name__}: {error}', flush=True)
    sys.exit(1 if failed else 0)


main()
