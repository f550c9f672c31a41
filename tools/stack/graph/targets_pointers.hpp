// Whom a call through a pointer may reach, and what must be believed for that.
#pragma once

#include "graph/build.hpp"
#include "graph/targets_signature.hpp"
#include "graph/targets_tables.hpp"
#include "graph/targets_taken.hpp"

namespace nth::stack {

// What a set of callees rests on; each has its sentence in words_of().
enum belief : std::uint32_t {
  nothing_loaded = 1, // no dlopen, no dlsym
  start_is_once = 2,  // main, constructors, resolvers
  virtual_calls = 4,
  stream_tables = 8,
  bound_at_start = 16,
  not_in_missing = 32, // what is defined here is not in a library that was not found, too
  unchanged_slots = 64,
  program_survives = 128,
  called_by_type = 256,
  own_pointers = 512
};
std::string words_of(std::uint32_t beliefs);

struct pointer_callees {
  callees to;
  const std::vector<std::uint32_t> *set = nullptr; // in place of to.nodes: one that many calls share
  std::uint32_t beliefs = 0;
  bool fixed = false; // a slot that the loader fills, not a pointer that the program computes
};

class pointer_targets {
public:
  pointer_targets(code_targets &targets, const build_options &options);

  pointer_callees of(std::uint32_t module, std::uint32_t function, const call_site &s);
  [[nodiscard]] const taken_functions &taken() const noexcept { return taken_; }

private:
  pointer_callees find(std::uint32_t module, std::uint32_t function, const call_site &s);
  pointer_callees any(std::uint32_t module, std::uint32_t function) const;
  pointer_callees from_slot(std::uint32_t module, std::uint32_t function, address slot);
  pointer_callees from_table(std::uint32_t module, std::uint32_t function, const pointer_source &s);
  void find_starters();
  [[nodiscard]] bool starts(std::uint32_t node) const;
  // Data that start-up code may set between relocation and protection, as a part of the C library does.
  [[nodiscard]] bool set_at_start(std::uint32_t module, address place) const;

  code_targets &targets_;
  const build_options &options_;
  taken_functions taken_;
  pointer_tables tables_;
  signature_filter signatures_;
  std::vector<std::uint32_t> starters_; // nodes that may call start-up code through pointers, sorted
  bool ends_in_main_ =
      false; // one of these calls a pointer of unknown origin, as it calls main, and does not return
  std::uint32_t interpreter_; // module; no_node: none
  bool closed_;               // all code that runs is here but for what is loaded later
  bool loads_ = true;         // code may be loaded later
};

} // namespace nth::stack
