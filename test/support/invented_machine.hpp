// Machines that hwloc is told of in place of this one.
#pragma once

#include <gtest/gtest.h>

#include <hwloc.h>

#include <cstdlib>
#include <unistd.h>

namespace nth::test {

// What is loaded while this lives is that machine.
class invented {
public:
  explicit invented(const char *machine, const char *by = "HWLOC_SYNTHETIC") : name(by) {
    setenv(name, machine, 1);
  }
  ~invented() { unsetenv(name); }
  invented(const invented &) = delete;
  invented &operator=(const invented &) = delete;

private:
  const char *name;
};

// Four nodes in a ring, one core each: a machine with distances, in a file as `lstopo --of xml` writes it.
class ring_file {
public:
  ring_file() {
    const int file = mkstemp(path);
    EXPECT_GE(file, 0);
    close(file);
    hwloc_topology_t ring;
    hwloc_topology_init(&ring);
    hwloc_topology_set_synthetic(ring, "numa:4 core:1 pu:1");
    hwloc_topology_load(ring);
    hwloc_obj_t node[4];
    hwloc_uint64_t values[16];
    for (unsigned i = 0; i < 4; ++i) {
      node[i] = hwloc_get_obj_by_type(ring, HWLOC_OBJ_NUMANODE, i);
      for (unsigned j = 0; j < 4; ++j)
        values[4 * i + j] = i == j ? 10 : (i ^ j) == 2 ? 22 : 16;
    }
    hwloc_distances_add_handle_t handle = hwloc_distances_add_create(
        ring, "NUMALatency", HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
    EXPECT_NE(handle, nullptr);
    EXPECT_EQ(hwloc_distances_add_values(ring, handle, 4, node, values, 0), 0);
    EXPECT_EQ(hwloc_distances_add_commit(ring, handle, 0), 0);
    EXPECT_EQ(hwloc_topology_export_xml(ring, path, 0), 0);
    hwloc_topology_destroy(ring);
  }
  ~ring_file() { unlink(path); }
  ring_file(const ring_file &) = delete;
  ring_file &operator=(const ring_file &) = delete;
  char path[32] = "/tmp/nth_ring_XXXXXX";
};

} // namespace nth::test
