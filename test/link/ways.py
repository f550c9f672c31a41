"""Links programs with small stacks in many ways, and holds what they print, on the kernel's stack and in threads, against
the same programs linked as ever.

ways.py GROUP --cc FOLDER --library FOLDER --include FOLDER --work FOLDER"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / 'programs'
THREADS = '40'
MOST_BYTES = 2048  # of a root's stack

# name: sources, compilers of each language
C = ['many.c', 'run.c']
CXX = ['objects.cpp', 'run.c']
FORTRAN = ['arrays.f90', 'fortran.c', 'run.c']

GROUPS = {
    'levels': [(C, 'gcc', f'-O{level}') for level in ('0', '1', '2', '3', 's')],
    'layout': [(C, 'gcc', f'-O2 {options}') for options in (
        '-no-pie', '-static', '-static-pie', '-fno-plt', '-ffunction-sections -Wl,--gc-sections', '-fcf-protection',
        '-fstack-protector-all', '-s')],
    'linkers': [(C, 'gcc', f'-O2 {options}') for options in (
        '-flto', '-fuse-ld=gold', '-fuse-ld=gold -no-pie', '-fuse-ld=lld', '-fuse-ld=lld -no-pie -static',
        '-D_FORTIFY_SOURCE=2')],
    'clang': [(C, 'clang', options) for options in ('-O0', '-O2', '-O3 -march=x86-64-v3', '-O2 -fuse-ld=lld',
                                                    '-O2 -flto -fuse-ld=lld', '-O2 -static')],
    'cxx': [(CXX, compiler, options) for compiler, options in (
        ('g++', '-O0'), ('g++', '-O2'), ('g++', '-O3 -flto'), ('g++', '-O2 -static'), ('g++', '-O2 -no-pie'), ('g++', '-O2 -static-libstdc++ -static-libgcc'),
        ('clang++', '-O2'))],
    'fortran': [(FORTRAN, 'gfortran', options) for options in ('-O0', '-O2', '-O3', '-O2 -no-pie', '-O2 -fstack-arrays')],
}
# Frames that the compiler has not made small do not fit 2 KiB, and C++ streams pass through what has no bound.
LARGER = {'-O0', '-fstack-protector-all'}


def run(words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, **more)


def must(words, what, **more):
    done = run(words, **more)
    if done.returncode != 0:
        raise AssertionError(f'{what}: status {done.returncode}\n{" ".join(map(str, words))}\n{done.stderr[-3000:]}')
    return done


def plain_words(compiler, options, objects, target, a):
    words = [compiler, *options, *objects, '-o', target, '-lm', f'-L{a.library}', '-lnth']
    if '-static' in options or '-static-pie' in options:
        return words + ['-lhwloc', '-lnth-no-udev', '-lpthread']
    return words + [f'-Wl,-rpath,{a.library}']


def small_words(compiler, options, objects, target, a):
    name = {'gcc': 'nth-cc', 'clang': 'nth-cc', 'g++': 'nth-c++', 'clang++': 'nth-c++', 'gfortran': 'nth-fc'}[compiler]
    return [pathlib.Path(a.cc) / name, '--nth-segment=1K', *options, *objects, '-o', target, '-lm']


def compile_all(sources, compiler, options, folder, a):
    objects = []
    for source in sources:
        of_language = {'.c': {'g++': 'gcc', 'clang++': 'clang', 'gfortran': 'gcc'}.get(compiler, compiler)}
        driver = of_language.get(pathlib.Path(source).suffix, compiler)
        standard = ['-std=c++20'] if source.endswith('.cpp') else []
        target = folder / (source + '.o')
        compiling = [o for o in options if not o.startswith(('-Wl,', '-fuse-ld', '-static', '-s'))
                     or o.startswith(('-fstack', '-std'))]
        must([driver, *compiling, *standard, '-I', a.include, '-c', HERE / source, '-o', target], f'compiling {source}',
             cwd=folder)
        objects.append(target)
    return objects


def check(sources, compiler, text, a):
    options = text.split()
    folder = pathlib.Path(a.work) / f'{sources[0]}-{compiler}-{text}'.replace(' ', '_').replace('/', '_')
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    objects = compile_all(sources, compiler, options, folder, a)
    variable = {'gcc': 'NTH_CC', 'clang': 'NTH_CC', 'g++': 'NTH_CXX', 'clang++': 'NTH_CXX', 'gfortran': 'NTH_FC'}[compiler]
    plain, small = folder / 'plain', folder / 'small'
    must(plain_words(compiler, options, objects, plain, a), 'linking as ever')
    must(small_words(compiler, options, objects, small, a), 'linking with small stacks',
         env=os.environ | {variable: compiler})
    expected = must([plain, '0'], 'the program linked as ever').stdout
    assert expected, 'it prints nothing'
    assert must([small, '0'], 'on the kernel\'s stack').stdout == expected, 'it prints something else on the kernel\'s stack'
    threads = must([small, THREADS], 'in threads')
    assert threads.stdout == expected, 'it prints something else'
    size = int(threads.stderr.split('stacks of ')[1].split()[0])
    limit = 4 * MOST_BYTES if LARGER & set(options) else MOST_BYTES
    assert size <= limit, f'roots are on {size} bytes, not {limit} at most'
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('group', choices=sorted(GROUPS))
    for word in ('cc', 'library', 'include', 'work'):
        parser.add_argument(f'--{word}', required=True)
    a = parser.parse_args()
    failed = 0
    for sources, compiler, text in GROUPS[a.group]:
        try:
            check(sources, compiler, text, a)
            print(f'{compiler} {text}: as ever', flush=True)
        except (AssertionError, subprocess.TimeoutExpired, IndexError) as error:
            failed += 1
            print(f'{compiler} {text}: {error}', flush=True)
    sys.exit(1 if failed else 0)


main()
