#!/usr/bin/env bash
# registers.sh libnth.a: the code between a stub and the switch names no vector or x87 register, and has no function whose
# body the linker may take from another object.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && ar x "$1" enter.cpp.o)
code=$(objdump -d --no-show-raw-insn "$folder/enter.cpp.o")
if ! grep -q '<nth_detail_enter>:' <<<"$code"; then
  echo "FAILED: nth_detail_enter is not in enter.cpp.o"
  exit 1
fi
if grep -E '%[xyz]mm|%st\b|%mm[0-7]' <<<"$code"; then
  echo "FAILED: these use registers that the callers of stubs may have values in"
  exit 1
fi
if nm "$folder/enter.cpp.o" | grep -E ' [WVu] '; then
  echo "FAILED: of these the linker may take the body from an object that uses any register"
  exit 1
fi
echo "general registers alone"
