# Tiled Cholesky: tasks with dependencies.

find_library(BENCH_OPENBLAS NAMES openblas) # with LAPACK

if(BENCH_OPENBLAS)
  set(cholesky cholesky/workload.cpp cholesky/blas.cpp)
  bench_program(cholesky serial cholesky_serial SOURCES cholesky/serial.cpp ${cholesky} LINK "${BENCH_OPENBLAS}")
  if(TARGET nth_static)
    bench_program(cholesky nth cholesky_nth SOURCES cholesky/nth.cpp common/nth_side.cpp ${cholesky}
      LINK nth_static "${BENCH_OPENBLAS}")
  else()
    bench_skip(cholesky nth "library nth_static is not built")
  endif()
  bench_openmp(cholesky cholesky/omp.cpp SOURCES ${cholesky} LINK "${BENCH_OPENBLAS}")
else()
  foreach(competitor nth serial gnu-openmp llvm-openmp)
    bench_skip(cholesky ${competitor} "OpenBLAS is not installed")
  endforeach()
endif()
