#!/usr/bin/env bash
# numa-vm.sh program…   runs test programs on a machine of four NUMA nodes with two processors each
#
# The machine is a virtual one: qemu, with Debian's or Ubuntu's kernel and an initramfs made here of busybox,
# the programs and their shared libraries. A program with arguments is one word: 'build/…/test --filter=x'.
# Variables NTH_…, HWLOC_… and GTEST_… are handed on. Ends with 0 when each program has ended with 0 (or with
# 77: skipped), else with the status of the first that has not; with 125 when the machine has not come so far.
#
#   NUMA_VM_ACCEL    kvm or tcg (emulation, some 10 times slower); not set: kvm where a kernel boots on it
#   NUMA_VM_TIMEOUT  seconds for everything; 900 when not set
#   NUMA_VM_MEMORY   MiB of each node, 0 for one without; "768 768 768 768" when not set
#   NUMA_VM_KERNEL   a kernel image; not set: that of the package linux-image-amd64 (Debian) or
#                    linux-image-generic (Ubuntu), which is fetched and unpacked, not installed
# Kept from one run to the next: build/numa-vm/.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
kept=$root/build/numa-vm
limit=${NUMA_VM_TIMEOUT:-900}
read -r -a memory <<<"${NUMA_VM_MEMORY:-768 768 768 768}"

complain() { echo "numa-vm.sh: $*" >&2; exit 125; }

if [ $# = 0 ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
[ ${#memory[@]} = 4 ] || complain "NUMA_VM_MEMORY: four numbers, one a node, not \"${memory[*]}\""
for program in "$@"; do
  [ -x "${program%% *}" ] || complain "no such program: ${program%% *}; build it first"
done
"$root/scripts/install-deps.sh" numa
busybox=$(command -v busybox) || complain "no busybox; install busybox-static"
mkdir -p "$kept"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# ---- The kernel --------------------------------------------------------------------------------------------

fetch_kernel() {
  local meta package
  for meta in linux-image-amd64 linux-image-generic; do
    package=$(apt-cache depends "$meta" 2>/dev/null |
      sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -z "$package" ] || break
  done
  [ -n "$package" ] || complain "no package of a kernel is known to apt; set NUMA_VM_KERNEL to a kernel image"
  echo "numa-vm.sh: fetching $package"
  mkdir "$scratch/kernel"
  (cd "$scratch/kernel" && apt-get download -qq "$package" 2>"$scratch/apt.log" && dpkg -x ./*.deb . &&
    cp boot/vmlinuz-* "$kept/vmlinuz") ||
    complain "$package could not be fetched: $(tail -n 1 "$scratch/apt.log")"
  rm -rf "$scratch/kernel"
}
kernel=${NUMA_VM_KERNEL:-$kept/vmlinuz}
[ -s "$kernel" ] || [ -n "${NUMA_VM_KERNEL:-}" ] || fetch_kernel
[ -s "$kernel" ] || complain "NUMA_VM_KERNEL: no such file: $kernel"

# Where virtual machines are nested, /dev/kvm may be there and a kernel still not boot on it.
boots_on_kvm() {
  [ -w /dev/kvm ] || return 1
  timeout 10 qemu-system-x86_64 -accel kvm -nodefaults -display none -m 512M -no-reboot \
    -serial "file:$scratch/probe" -kernel "$kernel" \
    -append "console=ttyS0 earlyprintk=serial panic=-1" >/dev/null 2>&1 || true
  grep -q 'Linux version' "$scratch/probe" 2>/dev/null
}
if [ -z "${NUMA_VM_ACCEL:-}" ]; then
  if [ ! -s "$kept/accel" ]; then
    if boots_on_kvm; then echo kvm; else echo tcg; fi >"$kept/accel"
  fi
  NUMA_VM_ACCEL=$(cat "$kept/accel")
fi

# ---- The initramfs -----------------------------------------------------------------------------------------

image=$scratch/image
mkdir -p "$image"/{bin,dev,proc,sys,tmp,tests}
cp "$busybox" "$image/bin/busybox"

add_program() { # name in the image, path
  local library
  cp "$2" "$image/tests/$1"
  # "libx.so => /path (address)", and the loader, which is named by its path alone.
  { ldd "$2" || true; } | sed -n 's/.*=> *\(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' |
    while read -r library; do
      mkdir -p "$image$(dirname "$library")"
      cp -Lu "$library" "$image$library"
    done
}

number=0
for program in "$@"; do
  number=$((number + 1))
  path=${program%% *}
  add_program "$number" "$path"
  arguments=${program:${#path}}
  printf '%s\n' "echo '==== $(basename "$path")$arguments'" \
    "run /tests/$number$arguments" "echo \"$number \$?\" >/dev/ttyS1" >>"$image/programs"
done
for name in $(compgen -e | grep -E '^(NTH|HWLOC|GTEST)_' || true); do
  printf "export %s='%s'\n" "$name" "${!name//\'/\'\\\'\'}"
done >"$image/environment"

cat >"$image/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
cd /tmp
stty -F /dev/ttyS1 raw
run() { "$@" </dev/null; }
echo "$(cat /sys/devices/system/node/online | tr '\n' ' ')are the NUMA nodes, $(nproc) processors, Linux $(uname -r)"
. /environment
. /programs
sync
poweroff -f
INIT
chmod +x "$image/init"
(cd "$image" && find . -print0 | cpio --null --quiet -o -H newc | gzip -1) >"$scratch/initrd"

# ---- The machine -------------------------------------------------------------------------------------------

# Two processors a node, one socket a node; the nodes lie in a ring, so the one across is farthest. Pages stay
# where they were put (numa_balancing), so that tests can tell who has put them there.
nodes=()
for node in 0 1 2 3; do
  own=node,nodeid=$node,cpus=$((2 * node))-$((2 * node + 1))
  if [ "${memory[node]}" != 0 ]; then
    nodes+=(-object "memory-backend-ram,id=memory$node,size=${memory[node]}M")
    own+=,memdev=memory$node
  fi
  nodes+=(-numa "$own")
done
for pair in 0,1,16 1,2,16 2,3,16 0,3,16 0,2,22 1,3,22; do
  IFS=, read -r a b distance <<<"$pair"
  nodes+=(-numa "dist,src=$a,dst=$b,val=$distance")
done

echo "numa-vm.sh: booting $(basename "$kernel") on $NUMA_VM_ACCEL"
status=0
timeout "$limit" qemu-system-x86_64 -accel "$NUMA_VM_ACCEL" -cpu max -nodefaults -display none -no-reboot \
  -smp 8,sockets=4,cores=2,threads=1 -m "$((memory[0] + memory[1] + memory[2] + memory[3]))M" "${nodes[@]}" \
  -kernel "$kernel" -initrd "$scratch/initrd" -append "console=ttyS0 quiet panic=-1 numa_balancing=disable random.trust_cpu=on" \
  -serial stdio -serial "file:$scratch/results" </dev/null 2>"$scratch/qemu.log" | tr -d '\r' || status=$?
touch "$scratch/results"
tr -d '\r' <"$scratch/results" >"$scratch/told"

first_bad=0
number=0
for program in "$@"; do
  number=$((number + 1))
  result=$(sed -n "s/^$number //p" "$scratch/told")
  case $result in
    0) word=passed ;;
    77) word=skipped ;;
    '') word="did not end" result=125 ;;
    *) word="failed, status $result" ;;
  esac
  echo "numa-vm.sh: $word: $program"
  if [ "$result" != 0 ] && [ "$result" != 77 ] && [ $first_bad = 0 ]; then
    first_bad=$result
  fi
done
if [ $first_bad = 125 ]; then
  [ $status != 124 ] || echo "numa-vm.sh: the time is up: $limit s; NUMA_VM_TIMEOUT sets another limit" >&2
  cat "$scratch/qemu.log" >&2
fi
exit "$first_bad"
