# Programs on several ranks: bench/ranks/run.py starts them.
if(NTH_CLUSTER)
  foreach(program allocate purchase)
    add_executable(bench_ranks_${program} ranks/${program}.cpp)
    set_target_properties(bench_ranks_${program} PROPERTIES
      OUTPUT_NAME ranks_${program} RUNTIME_OUTPUT_DIRECTORY "${bench_out}" LINKER_LANGUAGE CXX)
    target_link_libraries(bench_ranks_${program} PRIVATE nth_flags nth_cluster hwloc::hwloc)
    target_include_directories(bench_ranks_${program} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  endforeach()
  # Without MPI.
  add_executable(bench_ranks_model ranks/model.cpp $<TARGET_OBJECTS:nth_negotiate>)
  set_target_properties(bench_ranks_model PROPERTIES OUTPUT_NAME ranks_model RUNTIME_OUTPUT_DIRECTORY "${bench_out}")
  target_link_libraries(bench_ranks_model PRIVATE nth_flags nth_static hwloc::hwloc)
  target_include_directories(bench_ranks_model PRIVATE ${PROJECT_SOURCE_DIR}/src)
endif()
