// The state at every block of a function: its flow followed until nothing new is learnt.
#pragma once

#include "code/jump_tables.hpp"
#include "code/row_reader.hpp"
#include "code/step.hpp"

#include <deque>
#include <queue>

namespace nth::stack {

class depth_analysis {
public:
  depth_analysis(const code_map &map, std::uint32_t function);

  void run();

  flow ways;
  row_reader rows;
  step_context context;
  std::deque<state> at_begin;        // of each block; meaningful where `reached`
  std::vector<std::uint8_t> reached; // of each block
  bool gave_up = false;              // more work than a function may take: states do not hold for all ways
  address widened_at = 0;            // where ways of ever greater depth meet

  // What an indirect jump jumps to, told from the state before it.
  [[nodiscard]] value jump_value(const state &s, const instruction &i) const noexcept;
  [[nodiscard]] callee_traits callee_of(const state &s, const instruction &call) const noexcept;
  // What a call leaves when the callee has returned.
  void step_over(state &s, const instruction &call, const callee_traits &callee);
  [[nodiscard]] jump_targets targets_of(const state &s, const instruction &i);

private:
  // Landing pads whose unwind rows agree are entered with the same frame: what holds after all calls with such a
  // frame holds there.
  struct pad_group {
    cfa_base base = cfa_base::unknown;
    std::int64_t offset = 0;
    bool met = false;   // such a call was seen
    bool fresh = false; // more was learnt since the pads were entered
    state after_calls{};
    unsigned times = 0;
    std::vector<address> pads{};
  };

  void enter(address to, const state &s);
  void enter_block(std::uint32_t b, const state &s);
  void follow(std::uint32_t b);
  void leave(std::uint32_t b, state &s);
  std::uint32_t go(std::uint32_t from, address to, const state &s);
  void jump(std::uint32_t from, const std::vector<address> &targets, const state &s);
  bool loop_of_probes(std::uint32_t b, const state &s, state &after) const;
  void pass_call(const instruction &i, const state &s);
  void learn_pads(const unwind_entry &e);
  void add_to_group(pad_group &g, state s);
  bool enter_pads();
  bool call_must_end(const instruction &i, const state &s);
  void queue(std::uint32_t b);
  void grow();

  const code_map &map_;
  std::vector<unsigned> joins_;
  std::vector<std::uint8_t> queued_;
  using work_item = std::pair<std::uint64_t, std::uint32_t>; // blocks, in an order that needs few turns
  std::priority_queue<work_item, std::vector<work_item>, std::greater<>> work_;
  std::vector<std::uint32_t> order_;
  std::vector<pad_group> groups_;
  std::vector<const unwind_entry *> known_entries_;
  pad_group any_call_{};
};

} // namespace nth::stack
