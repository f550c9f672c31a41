#!/usr/bin/env bash
# lint.sh <build folder>   clang-format on all C and C++ files, clang-tidy on the library's and the tools'
# lint.sh --fix            rewrites the files as clang-format wants them
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -d '' -t sources < <(find include src tools test bench examples -type f \
  \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' \) -print0 2>/dev/null)

if [ "$1" = --fix ]; then
  exec clang-format -i "${sources[@]}"
fi

clang-format --dry-run -Werror "${sources[@]}"
echo "clang-format: ${#sources[@]} files"

# The headers of src/ and tools/ are seen through the files that include them (HeaderFilterRegex in .clang-tidy).
if ! run-clang-tidy -quiet -p "$1" "$PWD/(src|tools)/.*\.(cpp|c)$" >"$1/clang-tidy.log" 2>&1; then
  sed 's/\x1b\[[0-9;]*m//g' "$1/clang-tidy.log" | grep -E '(warning|error|note):' | sort -u
  exit 1
fi
echo "clang-tidy: src/ and tools/ are clean"
