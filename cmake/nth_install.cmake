# What `cmake --install` puts where. The installed tree finds itself: it may be moved as a whole.

set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Folder of the libraries, relative to the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_INCLUDEDIR must be relative to the prefix")
endif()
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nth)
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- Headers and libraries -----------------------------------------------------------------------------

install(DIRECTORY include/nth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
# As source: a compiled Fortran module can be read by the compiler that wrote it alone.
install(FILES fortran/nth.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nth)

# Two sets of targets: only the static library needs hwloc where programs are linked.
install(TARGETS nth_shared nth_main EXPORT nth-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS nth_static nth_no_udev EXPORT nth-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

if(NTH_CLUSTER)
  install(TARGETS nth_cluster EXPORT nth-cluster-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# ---- CMake packages ------------------------------------------------------------------------------------

install(EXPORT nth-targets NAMESPACE nth:: DESTINATION ${config_dir})
install(EXPORT nth-static-targets NAMESPACE nth:: DESTINATION ${config_dir})
if(NTH_CLUSTER)
  install(EXPORT nth-cluster-targets NAMESPACE nth:: DESTINATION ${config_dir})
endif()
configure_package_config_file(cmake/nth-config.cmake.in ${PROJECT_BINARY_DIR}/nth-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nth-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/nth-config.cmake
  ${PROJECT_BINARY_DIR}/nth-config-version.cmake
  cmake/Findhwloc.cmake
  cmake/nth_small_stacks.cmake
  DESTINATION ${config_dir})

# ---- pkg-config ----------------------------------------------------------------------------------------

# The way from the .pc files up to the prefix, e.g. "../..".
file(RELATIVE_PATH pc_to_prefix /p/${pc_dir} /p)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pcs nth nth-main)
if(NTH_CLUSTER)
  list(APPEND pcs nth-cluster)
endif()
foreach(pc ${pcs})
  configure_file(cmake/${pc}.pc.in ${PROJECT_BINARY_DIR}/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${pc_dir})
endforeach()
