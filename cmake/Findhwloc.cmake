# Finds hwloc (2.x) as target hwloc::hwloc. Installed beside nth-config.cmake too: programs that link the
# static library need it. It asks neither pkg-config nor Debian's layout.
find_path(HWLOC_INCLUDE_DIR hwloc.h)
find_library(HWLOC_LIBRARY hwloc)
mark_as_advanced(HWLOC_INCLUDE_DIR HWLOC_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc REQUIRED_VARS HWLOC_LIBRARY HWLOC_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian and Ubuntu: libhwloc-dev, Fedora: hwloc-devel")

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION "${HWLOC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HWLOC_INCLUDE_DIR}")
endif()
