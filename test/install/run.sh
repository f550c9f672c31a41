#!/usr/bin/env bash
# run.sh <build folder> <this folder>
# Installs to one place, moves all of it to another, and there builds and runs what a user would write:
# CMake projects in C alone and in C++, and a Makefile with pkg-config for C99, C++, nth_main (figure 4, the
# README's example) and Fortran; each with the shared and the static library.
set -euo pipefail
build=$1 sources=$2

work=$(mktemp -d "${TMPDIR:-/tmp}/nth-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
# A space in the name shows what is not quoted in the CMake files; pkg-config is for names without.
first="$work/first place" prefix="$work/moved"

cmake --install "$build" --prefix "$first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$first" "$prefix"

echo "== no installed text knows where it was built or installed"
if grep -rIlF -e "$build" -e "$first" "$prefix"; then
  echo "FAILED: the files above do"
  exit 1
fi

for project in cmake_c cmake_cxx; do
  echo "== $project"
  cmake -S "$sources/$project" -B "$work/$project" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release --log-level=WARNING >"$work/log" || { cat "$work/log"; exit 1; }
  cmake --build "$work/$project" >"$work/log" || { cat "$work/log"; exit 1; }
  (cd "$work/$project" && ctest --output-on-failure >"$work/log") || { cat "$work/log"; exit 1; }
  grep 'tests passed' "$work/log"
done

echo "== pkg-config"
mkdir "$work/make"
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$sources/../../README.md" >"$work/make/readme.c"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name nth.pc)")
export PKG_CONFIG_PATH
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$sources/../../doc/cluster.md" >"$work/make/hello.c"
fortran=()
command -v gfortran >/dev/null && fortran=(FC=gfortran)
mpi=()
pkg-config --exists nth-cluster && mpi=(MPICC=mpicc MPICXX=mpic++ "OMPI_CC=$CC" "OMPI_CXX=$CXX")
make -s -C "$work/make" -f "$sources/Makefile" SOURCES="$sources" "${fortran[@]}" "${mpi[@]}" check

if [ ${#mpi[@]} != 0 ]; then
  echo "== two ranks"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  mpirun -n 2 "$work/make/ranks_hello" | sort | diff - <(printf '[rank %d] hello from %d of 2\n' 0 0 1 1)
  mpirun -n 2 "$work/make/ranks_cxx"
fi
