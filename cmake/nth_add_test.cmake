# nth_add_test(name SOURCES file… [LABELS label…] [TIMEOUT seconds] [ARGS word…] [ENVIRONMENT NAME=value…]
#              [LIBRARIES target…] [INTERNAL] [SHARED] [MAIN] [AS_PRINTED] [SERIAL] [WILL_FAIL])
#
# One program, one entry of ctest. C++ sources get GoogleTest and its main (a program's own main wins);
# C sources are linked as a C program, without libstdc++, as a user's would be.
#   INTERNAL   may include headers of src/, and is compiled knowing what the library was compiled with
#   SHARED     links libnth.so in place of libnth.a
#   MAIN       the program's entry is nth_main
#   AS_PRINTED a program of a paper: its `i % kthreads` is a long given for an int, which -Wconversion minds,
#              and its parameters have the names of its globals, which -Wshadow does
#   SERIAL     runs while no other test does: for what measures time or processor use
#   TIMEOUT    120 seconds when not given; three times as long under a sanitizer
function(nth_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL;SHARED;MAIN;AS_PRINTED;SERIAL;WILL_FAIL" "TIMEOUT"
    "SOURCES;LABELS;ARGS;ENVIRONMENT;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "nth_add_test(${name}): no SOURCES, or unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()

  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE nth_flags ${arg_LIBRARIES})
  if(arg_MAIN)
    target_link_libraries(${name} PRIVATE nth_main)
  endif()
  if(arg_SHARED)
    target_link_libraries(${name} PRIVATE nth_shared)
  else()
    target_link_libraries(${name} PRIVATE nth_static)
  endif()
  set_target_properties(${name} PROPERTIES NTH_AS_PRINTED "${arg_AS_PRINTED}")
  if(arg_INTERNAL)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE hwloc::hwloc)
  endif()

  if(arg_SOURCES MATCHES "\\.(cpp|cc)(;|$)")
    find_package(GTest REQUIRED)
    target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  endif()

  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  nth_test_properties(${name} "${arg_TIMEOUT}" "${arg_LABELS}" "${arg_ENVIRONMENT}")
  set_tests_properties(${name} PROPERTIES
    RUN_SERIAL "${arg_SERIAL}" WILL_FAIL "${arg_WILL_FAIL}")
endfunction()

# nth_add_script_test(name COMMAND word… [LABELS label…] [TIMEOUT seconds] [ENVIRONMENT NAME=value…])
#
# A test that is a script. One that cannot run here says why and ends with status 77.
function(nth_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  nth_test_properties(${name} "${arg_TIMEOUT}" "${arg_LABELS}" "${arg_ENVIRONMENT}")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

function(nth_test_properties name timeout labels environment)
  if(NOT timeout)
    set(timeout 120)
  endif()
  if(nth_sanitizers)
    math(EXPR timeout "3 * ${timeout}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT "${timeout}" LABELS "${labels}" ENVIRONMENT "${environment}")
endfunction()
