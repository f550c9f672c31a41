#!/bin/sh
# gdb_backtrace.sh PROGRAM: gdb's walk over the stack of a thread ends cleanly and finds as many frames as
# backtrace() does. PROGRAM is built from backtrace_program.c. Exit status 77: gdb is missing or may not trace.
set -eu

program=$1
command -v gdb >/dev/null || { echo "gdb is missing"; exit 77; }

for policy in dsr lsa dos; do
  text=$(NTH_STACK_POLICY=$policy gdb -nx -batch \
    -ex 'set debuginfod enabled off' -ex 'set pagination off' -ex 'set print thread-events off' \
    -ex 'break backtrace_marker' -ex 'run' -ex 'backtrace' -ex 'continue' -ex 'backtrace' -ex 'continue' \
    "$program" 2>&1) || { echo "$text"; exit 1; }

  case $text in
  *'ptrace: Operation not permitted'* | *'Could not trace the inferior'*) echo "$text"; exit 77 ;;
  esac

  if echo "$text" | grep -E 'corrupt stack|inner to this frame|Backtrace stopped|previous frame identical'; then
    echo "$policy: the walk does not end cleanly"
    echo "$text"
    exit 1
  fi

  # gdb sees one frame more than backtrace_place did: backtrace_marker.
  echo "$text" | awk -v policy="$policy" '
    /^frames: /           { expected[++places] = $2 + 1 }
    /hit Breakpoint/      { ++stops }
    /^#0 / && stops > 0   { ++walks }
    /^#[0-9]+ /           { ++found[walks] }
    END {
      if (places != 2 || walks != 2) { print policy ": " places " places, " walks " walks, not 2"; exit 1 }
      for (i = 1; i <= 2; ++i)
        if (found[i] != expected[i]) {
          print policy ": gdb finds " found[i] " frames, backtrace() " expected[i] - 1 " without the marker"
          bad = 1
        }
      exit bad
    }' || { echo "$text"; exit 1; }
done
echo "gdb and backtrace() agree"
