# What can be chosen when the library is configured. The presets choose for the usual cases.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug (assertions) or Release" FORCE)
endif()

option(NTH_WERROR "Warnings are errors" OFF)
option(NTH_BUILD_TESTS "Build test/" ${PROJECT_IS_TOP_LEVEL})
option(NTH_BUILD_BENCH "Build bench/" OFF)
option(NTH_BUILD_TOOLS "Build tools/: nth-stack" OFF)

option(NTH_CLUSTER "Build libnth-cluster: needs MPI" ON)

# Each of these defines a macro of the same name as 1: stack switches are then announced to the tool.
option(NTH_ASAN "AddressSanitizer" OFF)
option(NTH_TSAN "ThreadSanitizer" OFF)
option(NTH_UBSAN "UndefinedBehaviorSanitizer" OFF)

# Announcing stacks to Valgrind costs a few instructions at each, so debug builds alone do it unasked.
# Under a sanitizer Valgrind cannot run.
include(CheckIncludeFile)
check_include_file(valgrind/valgrind.h NTH_HAVE_VALGRIND_H)
set(valgrind_default OFF)
if(NTH_HAVE_VALGRIND_H AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT (NTH_ASAN OR NTH_TSAN OR NTH_UBSAN))
  set(valgrind_default ON)
endif()
option(NTH_VALGRIND "Announce stacks to Valgrind" ${valgrind_default})

if(NTH_ASAN AND NTH_TSAN)
  message(FATAL_ERROR "NTH_ASAN and NTH_TSAN exclude each other")
endif()
if(NTH_VALGRIND AND NOT NTH_HAVE_VALGRIND_H)
  message(FATAL_ERROR "NTH_VALGRIND needs <valgrind/valgrind.h> (Debian: valgrind)")
endif()
