#!/bin/sh
# gdb_backtrace.sh PROGRAM: on a thread with several segments gdb's walk ends cleanly, finds as many frames as backtrace()
# did, and passes __morestack more than once. PROGRAM is built from gdb_program.c. Exit status 77: gdb is missing or may
# not trace.
set -eu

program=$1
command -v gdb >/dev/null || { echo "gdb is missing"; exit 77; }

for policy in dsr lsa dos; do
  text=$(NTH_STACK_POLICY=$policy gdb -nx -batch \
    -ex 'set debuginfod enabled off' -ex 'set pagination off' -ex 'set print thread-events off' \
    -ex 'break backtrace' -ex 'run' -ex 'backtrace' -ex 'continue' "$program" 2>&1) || { echo "$text"; exit 1; }

  case $text in
  *'ptrace: Operation not permitted'* | *'Could not trace the inferior'*) echo "$text"; exit 77 ;;
  esac
  if echo "$text" | grep -E 'corrupt stack|inner to this frame|Backtrace stopped|previous frame identical'; then
    echo "$policy: the walk does not end cleanly"
    echo "$text"
    exit 1
  fi
  # gdb sees one frame more than backtrace did: that of backtrace itself.
  echo "$text" | awk -v policy="$policy" '
    /^frames: /      { expected = $2 + 1 }
    /^#[0-9]+ /      { ++found }
    /in __morestack/ { ++switches }
    END {
      if (found != expected || switches < 2) {
        print policy ": gdb finds " found + 0 " frames, " switches + 0 " of __morestack; backtrace() found " expected - 1
        exit 1
      }
    }' || { echo "$text"; exit 1; }
done
echo "gdb and backtrace() agree across segments"
