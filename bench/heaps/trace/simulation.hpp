// All caches and TLBs, fed with one trace, between two stores that mark the interesting part.
#pragma once

#include "lackey.hpp"
#include "memory.hpp"

#include <optional>

namespace trace {

class simulation {
public:
  simulation(std::vector<memory> of_caches, std::vector<memory> of_tlbs)
      : caches(std::move(of_caches)), tlbs(std::move(of_tlbs)) {}

  // Counts from the instruction after a store to `begin` up to the one that stores to `end`, which may happen again;
  // without, all. What lies outside does not warm anything.
  void between(std::uint64_t begin, std::uint64_t end) {
    marks = {begin, end};
    on = false;
  }

  void take(const event &e);

  std::uint64_t instructions() const { return executed; }
  std::uint64_t phases() const { return begun; } // times that counting began by a mark
  const std::vector<memory> &all_caches() const { return caches; }
  const std::vector<memory> &all_tlbs() const { return tlbs; }

private:
  struct mark {
    std::uint64_t begin, end;
  };

  bool marked(const event &e); // whether it is the store of a mark

  std::vector<memory> caches, tlbs;
  std::optional<mark> marks;
  bool on = true;
  std::uint64_t executed = 0;
  std::uint64_t begun = 0;
};

} // namespace trace
