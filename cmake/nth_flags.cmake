# How everything here is compiled (target nth_flags) and what the library adds to that (nth_internal_flags).

include(CheckCXXCompilerFlag)
include(CheckCCompilerFlag)

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")

set(nth_sanitizers)
foreach(tool ASAN=address TSAN=thread UBSAN=undefined)
  string(REGEX MATCH "^(.*)=(.*)$" _ ${tool})
  if(NTH_${CMAKE_MATCH_1})
    list(APPEND nth_sanitizers ${CMAKE_MATCH_2})
  endif()
endforeach()

if(nth_sanitizers)
  # For all of the tree: a program of which only a part is instrumented reports what is not so.
  list(JOIN nth_sanitizers "," sanitizer_list)
  add_compile_options(-fsanitize=${sanitizer_list} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${sanitizer_list})
endif()

# ---- Everything ----------------------------------------------------------------------------------------

add_library(nth_flags INTERFACE)
target_compile_definitions(nth_flags INTERFACE
  $<$<CONFIG:Debug>:NTH_DEBUG=1>
  $<$<BOOL:${NTH_ASAN}>:NTH_ASAN=1>
  $<$<BOOL:${NTH_TSAN}>:NTH_TSAN=1>
  $<$<BOOL:${NTH_UBSAN}>:NTH_UBSAN=1>
  $<$<BOOL:${NTH_VALGRIND}>:NTH_VALGRIND=1>)

# -Wno-sign-conversion: clang takes it into -Wconversion, gcc does not for C++; one rule for both.
# NTH_AS_PRINTED: see nth_add_test.cmake.
set(warnings -Wall -Wextra -Wpedantic
  $<IF:$<BOOL:$<TARGET_PROPERTY:NTH_AS_PRINTED>>,-Wno-conversion,-Wconversion>
  $<IF:$<BOOL:$<TARGET_PROPERTY:NTH_AS_PRINTED>>,-Wno-shadow,-Wshadow> -Wno-sign-conversion)
if(NTH_WERROR)
  list(APPEND warnings -Werror)
endif()
# A root function is a `void (*)()`, as the papers print it: in C that is a declaration without a prototype.
set(c_warnings -Wno-strict-prototypes)
check_c_compiler_flag(-Wdeprecated-non-prototype NTH_C_HAS_DEPRECATED_NON_PROTOTYPE) # clang from 15 on
if(NTH_C_HAS_DEPRECATED_NON_PROTOTYPE)
  list(APPEND c_warnings -Wno-deprecated-non-prototype)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(NTH_TSAN)
    list(APPEND warnings -Wno-tsan) # "fences are not supported": true, and the code is written for it
  endif()
  if(nth_sanitizers OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND warnings -Wno-maybe-uninitialized) # gcc guesses wrong at -Og and in instrumented code
  endif()
endif()
target_compile_options(nth_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>"
  "$<$<COMPILE_LANGUAGE:C>:${c_warnings}>")

# ---- The library ---------------------------------------------------------------------------------------

add_library(nth_internal_flags INTERFACE)
target_link_libraries(nth_internal_flags INTERFACE nth_flags)
target_include_directories(nth_internal_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(nth_internal_flags INTERFACE
  # Nothing is exported but what nth.h marks NTH_API; a program's own function of the same name as an
  # exported one does not replace calls inside the library.
  -fvisibility=hidden -fno-semantic-interposition
  # The linker of a program drops what it does not call.
  -ffunction-sections -fdata-sections
  # Exceptions pass through the library's frames; gdb and profilers walk them.
  -fasynchronous-unwind-tables
  # A worker's own data is one %fs-relative load away, without a call of __tls_get_addr.
  -ftls-model=initial-exec
  # Calls of libc go through the GOT: one jump less than by the PLT.
  -fno-plt
  "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti>")
check_cxx_compiler_flag(-mprfchw NTH_CXX_HAS_PRFCHW)
if(NTH_CXX_HAS_PRFCHW)
  # prefetchw: does nothing on processors that lack it.
  target_compile_options(nth_internal_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-mprfchw>")
endif()
