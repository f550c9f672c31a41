#!/usr/bin/env bash
# Installs, by package name, what is missing: install-deps.sh [build] [test] [bench]; all three by default.
# Does nothing, in well under a second, when nothing is. Debian and Ubuntu; elsewhere it says what is needed.
set -euo pipefail

# package, or package:command where that command, from wherever it comes, serves as well.
build=(build-essential cmake:cmake ninja-build:ninja pkg-config:pkg-config libhwloc-dev)
test=(libgtest-dev clang:clang++ clang-format:clang-format clang-tidy:run-clang-tidy
  gfortran:gfortran gdb:gdb valgrind python3:python3)
bench=(libfmt-dev libcli11-dev nlohmann-json3-dev libtbb-dev libomp-dev libboost-fiber-dev
  libboost-context-dev golang-go:go python3-matplotlib)

PATH=$PATH:/usr/local/go/bin # where Go's own installer puts it

wanted=()
for group in "${@:-build test bench}"; do
  for name in $group; do
    case $name in
      build) wanted+=("${build[@]}") ;;
      test) wanted+=("${test[@]}") ;;
      bench) wanted+=("${bench[@]}") ;;
      *) echo "install-deps.sh: unknown group '$name': build, test or bench" >&2; exit 2 ;;
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
if ! "${run[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
  echo "install-deps.sh: apt-get could not install these; see what it says above:" >&2
  echo "  ${missing[*]}" >&2
  exit 1
fi
