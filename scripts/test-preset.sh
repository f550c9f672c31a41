#!/usr/bin/env bash
# test-preset.sh <preset>               configures, builds and tests one preset
# test-preset.sh --summary <preset>…    prints ctest's summary of each, and of all as the last line
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$1" = --summary ]; then
  shift
  failed=0 total=0
  echo
  for preset in "$@"; do
    line=$(grep -E 'tests passed, [0-9]+ tests? failed' "build/$preset/ctest.log" | tail -n 1)
    printf '%-14s %s\n' "$preset" "$line"
    [[ $line =~ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]
    failed=$((failed + BASH_REMATCH[1]))
    total=$((total + BASH_REMATCH[2]))
  done
  echo "$(((total - failed) * 100 / total))% tests passed, $failed tests failed out of $total"
  exit $((failed > 0))
fi

preset=$1
printf '\n==== %s ====\n' "$preset"
cmake --preset "$preset" --log-level=WARNING >/dev/null
cmake --build --preset "$preset"
# Ends with ctest's own summary.
ctest --preset "$preset" 2>&1 | tee "build/$preset/ctest.log"
