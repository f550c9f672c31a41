# Paper 002: the parallel programs of its table 2, in C, and the simulator that their traces go through.

add_executable(memory_trace heaps/trace/main.cpp heaps/trace/simulation.cpp heaps/trace/memory.cpp heaps/trace/lackey.cpp)
set_target_properties(memory_trace PROPERTIES OUTPUT_NAME memory-trace RUNTIME_OUTPUT_DIRECTORY "${bench_out}")
target_link_libraries(memory_trace PRIVATE nth_flags fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)

if(TARGET nth_static)
  function(nth_add_heaps_program name program)
    add_executable(${name} heaps/${program}.c heaps/main.c heaps/barrier.c heaps/mistake.c)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${bench_out}" LINKER_LANGUAGE C)
    target_link_libraries(${name} PRIVATE nth_flags nth_static m)
    # Its error routine is called as any function: on a large stack, or through a stub.
    target_compile_definitions(${name} PRIVATE HEAPS_DIRECT_CALL)
    # The addresses that a trace is searched for are the same in each run.
    target_link_options(${name} PRIVATE -no-pie -Wl,-z,now)
  endfunction()
  foreach(program sor mp3d ocean)
    nth_add_heaps_program(heaps_${program} ${program})
    if(TARGET nth-stack)
      nth_add_heaps_program(heaps_${program}_small ${program})
      nth_small_stacks(heaps_${program}_small SEGMENT 1K REPORT ${bench_out}/heaps_${program}_small.json)
      add_dependencies(heaps_${program}_small nth-stack)
      set_property(TARGET heaps_${program}_small APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:nth-stack>)
    endif()
  endforeach()
else()
  message(STATUS "bench: heaps: left out: library nth_static is not built")
endif()
