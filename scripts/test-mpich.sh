#!/usr/bin/env bash
# Builds nth-cluster with MPICH, in build/mpich, and runs the tests that run on several ranks. Open MPI, which the
# other builds use, may be installed beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-deps.sh build test mpich
preset=(--preset release -B build/mpich)
cmake "${preset[@]}" -DNTH_BUILD_TOOLS=OFF -DNTH_BUILD_BENCH=OFF \
  -DMPI_C_COMPILER=mpicc.mpich -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" --log-level=WARNING >/dev/null
targets=$(ninja -C build/mpich -t targets all | sed -n 's|^\(ranks_[a-z_]*\): phony.*|\1|p' | sort -u)
# shellcheck disable=SC2086
cmake --build build/mpich --target $targets example.ranks
ctest --test-dir build/mpich -L ranks --output-on-failure
