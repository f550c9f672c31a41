# nth_add_cluster_program(name SOURCES file… [INTERNAL])
# A program for several ranks, as its user would link it.
function(nth_add_cluster_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE nth_flags nth_cluster)
  if(arg_INTERNAL)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE hwloc::hwloc)
  endif()
  if(arg_SOURCES MATCHES "\\.(cpp|cc)(;|$)")
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  endif()
endfunction()

# What a test run needs of its environment: Open MPI does not like root, or more ranks than processors, or to leave
# ranks where the kernel puts them, unless it is told so. MPICH does not mind.
set(nth_mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none)

if(NTH_ASAN) # MPI leaks what it allocates once
  list(APPEND nth_mpi_environment ASAN_OPTIONS=abort_on_error=1:strict_string_checks=1:detect_leaks=0)
endif()

# nth_add_cluster_test(name PROGRAM target RANKS n [ARGS word…] [ENVIRONMENT NAME=value…] [TIMEOUT seconds])
# RANKS 0: without mpirun.
function(nth_add_cluster_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;RANKS;TIMEOUT" "ARGS;ENVIRONMENT")
  set(run)
  if(arg_RANKS GREATER 0)
    set(run ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS})
  endif()
  add_test(NAME ${name} COMMAND ${run} $<TARGET_FILE:${arg_PROGRAM}> ${arg_ARGS})
  nth_test_properties(${name} "${arg_TIMEOUT}" ranks "${nth_mpi_environment};${arg_ENVIRONMENT}")
  set_tests_properties(${name} PROPERTIES PROCESSORS 2)
endfunction()
