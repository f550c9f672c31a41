// How much of what its caller has pushed a function may touch: bytes above its return address. Seen as long as it
// reaches them from rsp or a frame pointer by distances that are known, and makes no pointer to them (variable arguments,
// structures by value that it hands on); and whether it looks at its return address.
#pragma once

#include "code/depth.hpp"

namespace nth::stack {

class incoming_arguments {
public:
  explicit incoming_arguments(depth_analysis &d) : d_(d) {}

  void before(const instruction &i, const state &s); // the operands
  void after(const instruction &i, const state &s);  // what it has left in registers
  [[nodiscard]] bool reads_return_address() const noexcept { return reads_return_address_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return known_ ? bytes_ : unknown_arguments; }

private:
  [[nodiscard]] bool reaches_above_by_index(const state &s, const memory_operand &m) const;
  [[nodiscard]] std::int64_t least_below_cfa(const value &v) const noexcept {
    return d_.context.anchors.from_cfa(v).lo;
  }
  [[nodiscard]] bool points_above(const value &v, std::int64_t displacement) const noexcept {
    return v.kind == value_kind::stack && least_below_cfa(v) - displacement <= 0;
  }

  depth_analysis &d_;
  bool known_ = true;
  bool reads_return_address_ = false;
  std::int64_t bytes_ = 0;
};

} // namespace nth::stack
