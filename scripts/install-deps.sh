#!/usr/bin/env bash
# Installs, by package name, what is missing: install-deps.sh [build] [tools] [cluster] [test] [bench] [mpich] [numa]; all but the
# last two by default: they are for scripts/test-mpich.sh and scripts/numa-vm.sh.
# Does nothing, in well under a second, when nothing is. Debian and Ubuntu; elsewhere it says what is needed.
set -euo pipefail

# package, or package:command where that command, from wherever it comes, serves as well.
build=(build-essential cmake:cmake ninja-build:ninja pkg-config:pkg-config libhwloc-dev)
# Libraries whose use of stacks is measured and held against what nth-stack says.
stack=(libsqlite3-dev libexpat1-dev zlib1g-dev libgmp-dev liblua5.4-dev liblapack-dev libblas-dev)
test=(libgtest-dev clang:clang++ clang-format:clang-format clang-tidy:run-clang-tidy
  gfortran:gfortran gdb:gdb valgrind libc6-dbg lld:ld.lld lua5.4:lua5.4 qemu-user:qemu-x86_64 python3:python3 chromium:chromium
  "${stack[@]}")
tools=(libzydis-dev libdw-dev libelf-dev libfmt-dev libcli11-dev nlohmann-json3-dev)
# Open MPI's, or MPICH's where that is what mpicc stands for.
cluster=(libopenmpi-dev:mpicc openmpi-bin:mpirun)
mpich=(libmpich-dev mpich) # for scripts/test-mpich.sh
# Their names carry versions: one that this system does not have is left out, with a message.
allocators=(libtcmalloc-minimal4 libjemalloc2 libmimalloc2.0)
bench=(libfmt-dev libcli11-dev nlohmann-json3-dev libtbb-dev libomp-dev libboost-fiber-dev
  libboost-context-dev nettle-dev libopenblas-dev golang-go:go python3-matplotlib "${allocators[@]}")
numa=(qemu-system-x86:qemu-system-x86_64 busybox-static cpio:cpio)

PATH=$PATH:/usr/local/go/bin # where Go's own installer puts it

wanted=()
for group in "${@:-build tools cluster test bench}"; do
  for name in $group; do
    case $name in
      build) wanted+=("${build[@]}") ;;
      cluster) wanted+=("${cluster[@]}") ;;
      tools) wanted+=("${tools[@]}") ;;
      test) wanted+=("${test[@]}") ;;
      bench) wanted+=("${bench[@]}") ;;
      mpich) wanted+=("${mpich[@]}") ;;
      numa) wanted+=("${numa[@]}") ;;
      *) echo "install-deps.sh: unknown group '$name': build, tools, cluster, test, bench, mpich or numa" >&2; exit 2 ;;
    esac
  done
done

candidates=()
for item in "${wanted[@]}"; do
  package=${item%%:*} command=${item#*:}
  if [ "$command" != "$item" ] && command -v "$command" >/dev/null; then
    continue
  fi
  candidates+=("$package")
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install-deps.sh: not a Debian or Ubuntu: install what is missing of these by yourself" >&2
  echo "(Debian's names; what was found as a command is left out):" >&2
  echo "  ${candidates[*]}" >&2
  exit 0 # CMake names what it then does not find
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${candidates[@]}" 2>/dev/null |
  sed -n 's/^installed //p' || true)
missing=()
for package in "${candidates[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# Splits `missing`: what apt does not know of the allocators goes to `unknown`.
leave_out_unknown() {
  local all=("${missing[@]}")
  missing=() unknown=()
  for package in "${all[@]}"; do
    if [[ " ${allocators[*]} " = *" $package "* ]] && ! apt-cache show "$package" >/dev/null 2>&1; then
      unknown+=("$package")
    else
      missing+=("$package")
    fi
  done
}
tell_unknown() {
  if [ ${#unknown[@]} -gt 0 ]; then
    echo "install-deps.sh: left out, for this system has no such package: ${unknown[*]}"
  fi
}

before=("${missing[@]}")
leave_out_unknown
if [ ${#missing[@]} = 0 ]; then
  tell_unknown
  exit 0
fi
missing=("${before[@]}")

echo "Installing: ${missing[*]}"
run=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: neither root nor sudo. As root, run:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  run=(sudo)
fi
"${run[@]}" apt-get update -qq || echo "install-deps.sh: going on with the lists of packages that are here" >&2
leave_out_unknown # anew: the lists of packages may have been empty before
tell_unknown
[ ${#missing[@]} -gt 0 ] || exit 0
if ! "${run[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
  echo "install-deps.sh: apt-get could not install these; see what it says above:" >&2
  echo "  ${missing[*]}" >&2
  exit 1
fi
