#!/usr/bin/env bash
# The libraries as files: binaries.sh libnth.a libnth.so libnth-main.a
#   exported are nth_… and kthreads, and nothing else;
#   a C program can link them: nothing of the C++ library is asked for;
#   no object asks for an executable stack.
set -euo pipefail
static=$1 shared=$2 main=$3
failed=0

expect_nothing() { # what is wrong, the lines that show it
  if [ -n "$2" ]; then
    printf 'FAILED: %s:\n%s\n' "$1" "$2"
    failed=1
  fi
}

exported=$(nm -D --defined-only "$shared" | awk '{ print $NF }' | sed 's/@.*//' | sort)
expect_nothing "exported by $shared but not nth_… or kthreads" \
  "$(grep -vE '^(nth_[a-z0-9_]+|kthreads)$' <<<"$exported" || true)"
if ! grep -qx nth_create <<<"$exported" || ! grep -qx kthreads <<<"$exported"; then
  expect_nothing "not exported by $shared" "nth_create or kthreads"
fi

# Names with a C++ mangling or of its ABI that nobody here defines.
# (_GLOBAL_OFFSET_TABLE_ and the like are the linker's.)
undefined_cxx() { # archive
  local defined
  defined=$(nm --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
  # Weak ones (w) may stay undefined: the library asks whether a program has them.
  nm --undefined-only "$1" 2>/dev/null | awk 'NF == 2 && $1 != "w" { print $2 }' | sort -u |
    grep -E '^(_Z|__cxa_|__gxx_|__dynamic_cast|_ZTI|_ZTV)' | grep -vxE '__cxa_(atexit|finalize|thread_atexit_impl)' |
    comm -23 - <(printf '%s\n' "$defined") || true
}
expect_nothing "needed from the C++ library by $static" "$(undefined_cxx "$static")"
needed=$(readelf -dW "$shared" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
expect_nothing "needed by $shared" "$(grep -E 'stdc\+\+|libc\+\+' <<<"$needed" || true)"

# An object without the note .note.GNU-stack makes the linker ask for an executable stack.
for archive in "$static" "$main"; do
  expect_nothing "objects of $archive with an executable stack" "$(
    readelf -SW "$archive" | awk '
      function close_file() { if (file != "" && !noted) print file }
      /^File: / { close_file(); file = $2; noted = 0 }
      /\.note\.GNU-stack/ { noted = 1; if ($0 ~ / X /) print file " (marked X)" }
      END { close_file() }'
  )"
done
expect_nothing "$shared has an executable stack" \
  "$(readelf -lW "$shared" | awk '/GNU_STACK/ && $7 ~ /E/')"
expect_nothing "$shared has relocations in its code" "$(readelf -dW "$shared" | grep TEXTREL || true)"

if [ $failed = 0 ]; then
  echo "$(wc -l <<<"$exported") names exported; needs $(xargs <<<"$needed"); no executable stack"
fi
exit $failed
