# Fork-join programs: fib, nqueens, uts.

find_library(BENCH_NETTLE NAMES nettle) # SHA-1, with which uts makes its trees
find_path(BENCH_NETTLE_INCLUDE nettle/sha1.h)

# What a workload's programs share beside each competitor's own file, and what nth's have for the C interface.
set(shared_fib "")
set(shared_nqueens "")
set(shared_uts "")
set(c_fib fib/nth_fib.c)
set(c_nqueens nqueens/nth_solutions.c)
set(c_uts uts/nth_visit.c)
set(fork_join fib nqueens)

if(BENCH_NETTLE AND BENCH_NETTLE_INCLUDE)
  add_library(bench_uts_tree STATIC uts/tree.c)
  target_compile_options(bench_uts_tree PRIVATE -Wall -Wextra $<$<BOOL:${NTH_WERROR}>:-Werror>)
  target_include_directories(bench_uts_tree PRIVATE "${BENCH_NETTLE_INCLUDE}")
  target_link_libraries(bench_uts_tree PUBLIC "${BENCH_NETTLE}" m)
  set(shared_uts bench_uts_tree)
  list(APPEND fork_join uts)
else()
  foreach(competitor nth nth-shared serial onetbb gnu-openmp llvm-openmp)
    bench_skip(uts ${competitor} "nettle is not installed")
  endforeach()
endif()

foreach(w ${fork_join})
  bench_program(${w} serial ${w}_serial SOURCES ${w}/serial.cpp LINK ${shared_${w}})
  bench_nth(${w} SOURCES ${w}/nth.cpp ${c_${w}} LINK ${shared_${w}})
  if(TBB_FOUND)
    bench_program(${w} onetbb ${w}_tbb SOURCES ${w}/tbb.cpp LINK TBB::tbb ${shared_${w}})
  else()
    bench_skip(${w} onetbb "oneTBB is not installed")
  endif()
  bench_openmp(${w} ${w}/omp.cpp LINK ${shared_${w}})
endforeach()
foreach(w fib nqueens uts)
  bench_go(${w})
endforeach()

# fib's calls themselves, as many as the others make.
set_source_files_properties(fib/serial.cpp PROPERTIES COMPILE_OPTIONS "-fno-inline;-fno-optimize-sibling-calls")
