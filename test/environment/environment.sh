#!/usr/bin/env bash
# environment.sh <part> <program>: memory follows what it finds. Parts:
#   limits      under ulimit -v and -d a run starts with a smaller area, or the message names the limit
#   overcommit  the same with vm.overcommit_memory=2: as root and with NTH_TEST_SYSCTL=1 alone, for it is the
#               whole system's; what was set before is set again
#   valgrind    nothing for memcheck to complain about (the program is one that announces its stacks)
#   emulator    works under qemu-user, which has no membarrier and pays for what is only reserved
#   core        the core dump of an idle program with many past threads takes little of the disk
# Exit status 77: cannot be tried here, and why.
set -euo pipefail
part=$1 program=$2
export NTH_WORKERS=2
unset NTH_AREA_SIZE NTH_STACK_SIZE NTH_STACK_POLICY

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

# Runs `blocked 20000`; the exit status must be one of those given, and a refusal must name each word.
blocked() { # "status…", "words…", what is tried
  local text status=0
  text=$(timeout 60 "$program" blocked 20000 2>&1) || status=$?
  echo "$3: $text"
  [[ " $1 " = *" $status "* ]] || fail "$3: exit status $status is none of $1"
  if [ $status = 3 ]; then
    for word in $2; do
      grep -qF -- "$word" <<<"$text" || fail "$3: the message lacks \"$word\""
    done
  fi
}

mib=1024 gib=$((1024 * 1024)) # in ulimit's KiB
limits() {
  local kib
  for kib in $((256 * mib)) $((900 * mib)); do
    (ulimit -v $kib && blocked 3 "nth_init: ulimit -v $kib raise" "ulimit -v $kib")
  done
  for kib in $((3 * gib / 2)) $((2 * gib)) $((4 * gib)) $((16 * gib)) $((64 * gib)); do
    (ulimit -v $kib && blocked "0 4" "" "ulimit -v $kib")
  done
  (ulimit -v $((1024 * gib)) && blocked 0 "" "ulimit -v $((1024 * gib))")
  for kib in 1000 4000; do
    (ulimit -d "$kib" && blocked 3 "nth_init: ulimit -d $kib raise" "ulimit -d $kib")
  done
  for kib in $((16 * mib)) $((64 * mib)) $((256 * mib)) $gib; do
    (ulimit -d "$kib" && blocked "0 4" "" "ulimit -d $kib")
  done
  (ulimit -d $((4 * gib)) && blocked 0 "" "ulimit -d $((4 * gib))")
}

overcommit() {
  local setting=/proc/sys/vm/overcommit_memory before
  [ "${NTH_TEST_SYSCTL:-}" = 1 ] || skip "NTH_TEST_SYSCTL=1 is not set: the setting is the whole system's"
  [ -w $setting ] || skip "not root"
  before=$(cat $setting)
  # shellcheck disable=SC2064 # now, not then
  trap "echo $before >$setting" EXIT
  trap 'exit 1' INT TERM HUP
  grep -E '^(CommitLimit|Committed_AS):' /proc/meminfo
  echo 2 >$setting
  blocked "0 4" "" "vm.overcommit_memory=2"
  NTH_AREA_SIZE=1G blocked "0 4" "" "vm.overcommit_memory=2, an area of 1 GiB"
  (ulimit -d 1000 && blocked 3 "overcommit_memory ulimit -d" "vm.overcommit_memory=2, ulimit -d 1000")
}

under_valgrind() {
  command -v valgrind >/dev/null || skip "no valgrind"
  local workers policy text
  local check=(timeout 120 valgrind --error-exitcode=9 --leak-check=full --fair-sched=try)
  # Of the default area memcheck takes what it can bear, and seconds; the rest is with the smallest one.
  text=$(NTH_WORKERS=1 "${check[@]}" "$program" blocked 50 2>&1) || fail "the default area: $text"
  grep 'an area of' <<<"$text"
  for workers in 1 2; do
    for policy in dsr lsa dos; do
      text=$(NTH_WORKERS=$workers NTH_STACK_POLICY=$policy NTH_AREA_SIZE=1G "${check[@]}" \
        "$program" classes 60 2>&1) || fail "$workers workers, $policy: $text"
      if grep -qE 'client switching stacks|Invalid (read|write)' <<<"$text"; then
        fail "$workers workers, $policy: $text"
      fi
      echo "$workers workers, $policy: $(grep -o 'ERROR SUMMARY.*' <<<"$text" | tail -1)"
    done
  done
}

emulator() {
  command -v qemu-x86_64 >/dev/null || skip "no qemu-x86_64 (Debian: qemu-user)"
  local workers policy text
  for workers in 1 2; do
    for policy in dsr lsa dos; do
      text=$(NTH_WORKERS=$workers NTH_STACK_POLICY=$policy timeout 120 qemu-x86_64 "$program" classes 300 2>&1) ||
        fail "$workers workers, $policy: $text"
      echo "$workers workers, $policy: works"
    done
  done
}

core() {
  local pattern bound=$((64 * mib)) file used
  pattern=$(cat /proc/sys/kernel/core_pattern)
  [[ $pattern != *[/\|]* ]] || skip "kernel.core_pattern is no plain file name: $pattern"
  # Blocked all at one time each touches a page or two of its stack, and one for its guard.
  (($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) > 4 * gib)) || skip "less than 4 GiB of memory are free"
  work=$(mktemp -d "${TMPDIR:-/tmp}/nth-core.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  ulimit -c unlimited 2>/dev/null || skip "no core dumps are allowed here (ulimit -c)"
  (timeout 100 "$program" core 200000 || true) >text 2>&1
  cat text
  ! grep -q FAILED text || exit 1
  grep -q mappings text || fail "the program ended early"
  file=$(find . -name 'core*' -print -quit)
  [ -n "$file" ] || skip "the kernel wrote no core"
  used=$(du -k "$file" | cut -f1)
  echo "the core takes $used KiB of the disk; its size is $(($(stat -c %s "$file") / 1024)) KiB"
  ((used < bound)) || fail "more than $bound KiB"
}

case $part in
  limits) limits ;;
  overcommit) overcommit ;;
  valgrind) under_valgrind ;;
  emulator) emulator ;;
  core) core ;;
  *) fail "no such part: $part" ;;
esac
