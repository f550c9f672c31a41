// The control flow of one function: blocks of instructions, found from its entry along the ways that execution takes.
#pragma once

#include "code/code_map.hpp"
#include "code/decode.hpp"

#include <array>
#include <set>
#include <unordered_map>

namespace nth::stack {

inline constexpr std::uint32_t no_block = ~std::uint32_t{0};

struct block {
  // How its last instruction leaves it. What only the state there tells is found by whoever knows the state.
  enum class end : std::uint8_t {
    falls,    // into `next`
    jump,     // direct jump, and branch: to target
    branch,   // and falls into `next`
    indirect, // jump
    ret,
    stop,      // no way on: ud2, or a call that never returns
    undecoded, // bytes that are no instruction, or far_away
    runs_out   // into the entry of another function
  };
  std::uint32_t first = 0; // indexes of instructions, last excluded
  std::uint32_t last = 0;
  end how = end::falls;
  address target = 0;              // jump, branch, runs_out
  std::uint32_t next = no_block;   // falls, branch
  std::vector<std::uint32_t> ways; // to blocks by jumps, as found
};

// The function's bytes decoded one after the other, as a compiler lays them out.
struct straight_sweep {
  bool done = false;
  bool reliable = false;            // no bytes that are no instruction, and all branches meet instructions
  std::vector<std::uint8_t> begins; // of each byte of the function: an instruction begins there
  std::vector<address> constants;   // that lea computes, sorted, each once: tables begin there
  // Other operands that may be addresses of code in a program with fixed addresses, sorted, each once.
  std::vector<address> immediates;
};

class flow {
public:
  flow(const code_map &map, std::uint32_t function);

  // The block that begins at `a`; splits one that holds `a` (then `split` names it), decodes what is new.
  std::uint32_t block_at(address a);
  // Decodes all that direct jumps lead to; the blocks' numbers in an order in which, but for loops, a block comes
  // after those that lead to it.
  std::vector<std::uint32_t> explore();
  // The call at instruction `at` of block `b` does not return: nothing follows it.
  void end_after_call(std::uint32_t b, std::uint32_t at);

  // Where a direct jump goes: within this function and its fragments, or into another function by its entry.
  [[nodiscard]] bool is_local(address target) const;
  // In this function, in the one that holds `at` and that it runs into, or in a fragment of one.
  [[nodiscard]] bool is_near(address target, address at) const;
  const straight_sweep &sweep();

  std::vector<instruction> code;
  std::vector<block> blocks;
  std::uint32_t split = no_block; // by the last block_at
  address entry = 0;
  address end = 0;

private:
  void decode_block(std::uint32_t b, address a);
  // Where it goes on without a jump, and by a direct one.
  [[nodiscard]] std::array<std::uint32_t, 2> direct_ways(std::uint32_t b);
  void close(block &b, const instruction &i);
  [[nodiscard]] std::uint32_t find(address a) const; // index of the instruction at a, or no_block
  void remember(address a, std::uint32_t index);
  [[nodiscard]] std::uint32_t holder_of(std::uint32_t index) const;

  const code_map &map_;
  straight_sweep sweep_;
  std::vector<std::uint32_t> near_;                    // of each byte of the function: its instruction
  std::unordered_map<address, std::uint32_t> distant_; // of what lies elsewhere
  std::vector<std::uint32_t> starts_;                  // of each instruction: the block it begins
  std::set<std::uint32_t> firsts_;                     // instructions that begin blocks
};

} // namespace nth::stack
