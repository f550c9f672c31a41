// This machine's topology, where no other is invented for it.
#pragma once

#include "topology/topology.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

namespace nth::test {

class this_machine : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name : {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE"})
      if (std::getenv(name) != nullptr)
        GTEST_SKIP() << name << " is set";
  }
  void TearDown() override { detail::topology::unload(); }
};

} // namespace nth::test
