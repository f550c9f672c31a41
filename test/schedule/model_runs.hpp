// A model that runs with one seed after another: whole, when none may fail, and with a part left out, when one must.
#pragma once

#include "interleaving.hpp"

#include "../support/size.hpp"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

namespace nth::test {

template <class Fault>
struct left_out {
  const char *name;
  Fault which;
  bool membarrier;
};

// The first failure in words, "" for none; `seeds`: how many it took, 0 for none. Only the seed NTH_TEST_SEED, if it
// is set.
template <class Model, class Fault>
std::string first_text(bool membarrier, Fault fault, long count, long &seeds) {
  std::string what;
  const char *chosen = std::getenv("NTH_TEST_SEED");
  const std::uint64_t first = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
  seeds = first_failure([=](std::uint64_t seed) { return Model(seed, membarrier, fault).run(); }, first,
                        chosen == nullptr ? count : 1, what);
  return what;
}

template <class Model, class Fault>
void expect_no_failure(Fault none, long count) {
  for (const bool membarrier : {true, false}) {
    long seeds = 0;
    EXPECT_EQ((first_text<Model>(membarrier, none, count, seeds)), "")
        << (membarrier ? "with" : "without") << " membarrier(2); again with NTH_TEST_SEED=<seed>";
  }
}

template <class Model, class Fault>
void expect_failure(const left_out<Fault> &part) {
  long seeds = 0;
  const std::string what = first_text<Model>(part.membarrier, part.which, 300'000, seeds);
  EXPECT_NE(seeds, 0) << "the model passes without it";
  std::printf("found after %ld seeds: %s\n", seeds, what.c_str());
}

} // namespace nth::test
