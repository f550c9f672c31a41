#include "code/collect.hpp"

#include "code/cold.hpp"
#include "code/frequency.hpp"
#include "code/incoming.hpp"
#include "code/live_registers.hpp"
#include "code/taken.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

constexpr std::int64_t red_zone = 128;

class collector {
public:
  collector(const code_map &map, depth_analysis &d) : map_(map), d_(d), taken_(map, d.ways), incoming_(d) {}

  scanned run(std::uint32_t function);

private:
  void visit_block(std::uint32_t b);
  void visit(const instruction &i, const state &s);
  void leave(const block &k, const state &s);
  [[nodiscard]] bool nothing_stored(std::uint32_t n, const block &k) const;
  void depth(const instruction &i, const state &s);
  void compare_with_unwind_table(const instruction &i, const state &s);
  void below_rsp(const instruction &i, const state &s);
  void call(const instruction &i, const state &s, bool returns);
  void tail_call(const instruction &i, const state &s, address target);
  void indirect_jump(const instruction &i, const state &s);
  void pops(std::int64_t bytes, address at);
  void ret(const instruction &i, const state &s);
  void unbounded(no_bound why, address at);
  void finish();

  // What lies between the CFA and the value; the part that is known where it has no bound.
  [[nodiscard]] value below_cfa(const value &stack) const noexcept {
    return d_.context.anchors.from_cfa(stack);
  }
  [[nodiscard]] std::int64_t depth_of(const state &s) const noexcept {
    const value v = below_cfa(s.rsp());
    return v.hi == far ? v.lo : v.hi;
  }

  const code_map &map_;
  depth_analysis &d_;
  taken_addresses taken_;
  incoming_arguments incoming_;
  scanned out_;
  std::vector<std::uint32_t> block_of_call_; // of each of facts.calls
  std::uint32_t now_ = 0;
  bool pops_told_ = false;
  bool leaving_ = false; // rsp is another frame's from here to the end of the block
};

// Of two reasons the one counts behind which calls may lie that are not known.
void collector::unbounded(no_bound why, address at) {
  function_facts &f = out_.facts;
  if (f.bound == frame_bound::unbounded && (hides_code(f.reason) || !hides_code(why)))
    return;
  f.bound = frame_bound::unbounded;
  f.reason = why;
  f.reason_at = at;
}

void collector::depth(const instruction &i, const state &s) {
  function_facts &f = out_.facts;
  if (leaving_)
    return;
  const value v = below_cfa(s.rsp());
  if (v.hi != far) {
    f.frame = std::max(f.frame, v.hi);
    if (v.lo != v.hi && f.bound == frame_bound::exact)
      f.bound = frame_bound::bounded;
    return;
  }
  f.frame = std::max(f.frame, v.lo);
  // Where ways with and without such an allocation met, any that is told stands for it.
  const std::vector<frame_anchors::anchor> &anchors = d_.context.anchors.list;
  auto a = anchors.begin() + s.rsp().anchor;
  if (a->hi != far)
    a = std::find_if(anchors.begin(), anchors.end(), [](const auto &each) { return each.hi == far; });
  if (a != anchors.end())
    unbounded(a->switched ? no_bound::stack_switch : no_bound::dynamic_allocation, a->cause);
  else if (d_.widened_at != 0)
    unbounded(no_bound::grows_in_loop, d_.widened_at);
  else
    unbounded(no_bound::stack_switch, i.at);
}

void collector::compare_with_unwind_table(const instruction &i, const state &s) {
  const cfa_row *r = d_.rows.row_at(i.at);
  if (r == nullptr || (r->base != cfa_base::rsp && r->base != cfa_base::rbp))
    return;
  const value &base = s.at(r->base == cfa_base::rsp ? reg::rsp : reg::rbp);
  if (base.kind != value_kind::stack)
    return;
  const value v = below_cfa(base);
  if (v.lo != v.hi)
    return;
  function_facts &f = out_.facts;
  ++f.cfa_compared;
  if (v.lo == r->offset)
    return;
  ++f.cfa_differing;
  // One of the two is wrong: the larger counts.
  if (f.bound == frame_bound::exact)
    f.bound = frame_bound::bounded;
  if (r->base == cfa_base::rsp)
    f.frame = std::max(f.frame, r->offset);
}

void collector::below_rsp(const instruction &i, const state &s) {
  if (i.memory.size == 0 || i.memory.segment || !is_general(i.memory.base))
    return;
  const value &base = s.at(i.memory.base);
  if (base.kind != value_kind::stack || base.hi == far)
    return;
  const value rsp = below_cfa(s.rsp());
  if (rsp.hi == far)
    return;
  const std::int64_t lowest = below_cfa(base).hi - i.memory.displacement;
  if (lowest <= rsp.hi)
    return;
  function_facts &f = out_.facts;
  const bool told = i.kind != op::lea && i.memory.index == reg::none;
  if (i.kind == op::lea && i.to == reg::rsp)
    return;
  f.touched = std::max(f.touched, told ? lowest : std::max(lowest, rsp.hi + red_zone));
}

void collector::call(const instruction &i, const state &s, bool returns) {
  call_site c;
  c.at = i.at;
  c.next = i.next();
  c.returns = returns;
  c.depth = depth_of(s);
  if (i.kind == op::call) {
    c.target = i.target();
    // A call into the middle of itself, as thunks for indirect jumps make, may put another return address in its place.
    if (c.target > d_.ways.entry && c.target < d_.ways.end && map_.table.at(c.target) == no_function)
      out_.facts.returns = true;
    if (c.target != 0 && map_.image.is_code(c.target)) {
      if (map_.table.at(c.target) == no_function && map_.image.plt_at(c.target) == nullptr)
        out_.found.push_back(c.target);
    } else if (c.target != 0) {
      unbounded(no_bound::undecodable, i.at);
    }
  } else {
    c.kind = call_kind::indirect;
    c.source = source_of(d_.jump_value(s, i));
  }
  out_.facts.calls_setjmp = out_.facts.calls_setjmp || d_.callee_of(s, i).returns_twice;
  out_.facts.calls.push_back(c);
  block_of_call_.push_back(now_);
}

void collector::tail_call(const instruction &i, const state &s, address target) {
  call_site c;
  c.at = i.at;
  c.kind = call_kind::tail;
  c.depth = std::max<std::int64_t>(0, depth_of(s) - 8);
  c.target = target;
  c.returns = !map_.callee(target).never_returns;
  out_.facts.returns = out_.facts.returns || c.returns;
  out_.returns_to_caller = out_.returns_to_caller || c.returns;
  out_.facts.calls_setjmp = out_.facts.calls_setjmp || map_.callee(target).returns_twice;
  if (c.returns)
    pops(map_.callee(target).pops, i.at);
  out_.facts.calls.push_back(c);
  block_of_call_.push_back(now_);
}

void collector::indirect_jump(const instruction &i, const state &s) {
  if (leaving_) {
    out_.facts.returns = true;
    return;
  }
  const jump_targets t = d_.targets_of(s, i);
  if (t.unresolved)
    unbounded(no_bound::unknown_jump, i.at);
  if (!t.others && !t.unresolved)
    return;
  call_site c;
  c.at = i.at;
  c.kind = call_kind::indirect_tail;
  c.depth = std::max<std::int64_t>(0, depth_of(s) - 8);
  c.source = source_of(d_.jump_value(s, i));
  if (c.source.origin == pointer_origin::slot)
    c.returns = !map_.callee_through(c.source.base).never_returns;
  out_.facts.returns = out_.facts.returns || c.returns;
  out_.facts.calls.push_back(c);
  block_of_call_.push_back(now_);
}

// Where ways of returning differ, a caller can't tell what is left.
void collector::pops(std::int64_t bytes, address at) {
  function_facts &f = out_.facts;
  if (pops_told_ && f.pops != bytes)
    unbounded(no_bound::pops_arguments, at);
  pops_told_ = true;
  f.pops = std::max(f.pops, bytes);
}

// To an address that the function itself put there it is a jump.
void collector::ret(const instruction &i, const state &s) {
  out_.facts.returns = true;
  const value v = below_cfa(s.rsp());
  const bool pushed = v.lo == v.hi && v.lo > 8;
  if (leaving_)
    return;
  pops(i.has_immediate ? i.immediate : 0, i.at);
  if (!pushed && !d_.context.writes_return_address) {
    out_.returns_to_caller = out_.returns_to_caller || (v.lo == v.hi && v.lo == 8);
    return;
  }
  call_site c;
  c.at = i.at;
  c.kind = call_kind::indirect_tail;
  c.depth = std::max<std::int64_t>(0, depth_of(s) - 16);
  out_.facts.calls.push_back(c);
  block_of_call_.push_back(now_);
}

void collector::visit(const instruction &i, const state &s) {
  ++out_.facts.instructions;
  depth(i, s);
  compare_with_unwind_table(i, s);
  below_rsp(i, s);
  if (!leaving_)
    incoming_.before(i, s);
}

void collector::leave(const block &k, const state &s) {
  const instruction &last = d_.ways.code[k.last - 1];
  switch (k.how) {
  case block::end::jump:
  case block::end::branch:
    if (!d_.ways.is_local(k.target))
      tail_call(last, s, k.target);
    if (k.how == block::end::branch && k.next == no_block && map_.table.at(last.next()) != no_function)
      tail_call(last, s, last.next());
    return;
  case block::end::runs_out: {
    state after = s;
    step(after, last, d_.context);
    depth(last, after);
    tail_call(last, after, k.target);
    return;
  }
  case block::end::indirect:
    indirect_jump(last, s);
    return;
  case block::end::ret:
    ret(last, s);
    return;
  case block::end::undecoded:
    unbounded(last.kind == op::undecoded ? no_bound::undecodable : no_bound::unknown_jump, last.at);
    return;
  default:
    return;
  }
}

// longjmp and its like: rsp becomes that of another frame, in which nothing is done but to leave.
bool collector::nothing_stored(std::uint32_t n, const block &k) const {
  if (k.how != block::end::ret && k.how != block::end::indirect)
    return false;
  return std::all_of(d_.ways.code.begin() + n, d_.ways.code.begin() + k.last, [](const instruction &i) {
    return !i.writes_memory && !i.writes_hidden_memory && i.kind != op::call && i.kind != op::call_indirect &&
           i.kind != op::push && i.kind != op::enter;
  });
}

void collector::visit_block(std::uint32_t b) {
  now_ = b;
  const block &k = d_.ways.blocks[b];
  state s = d_.at_begin[b];
  const std::uint32_t f = map_.table.at(d_.ways.code[k.first].at);
  if (f != no_function && b != 0 && map_.table.functions[f].kind == function_kind::fragment)
    out_.facts.fragments.push_back(map_.table.functions[f].entry);
  leaving_ = false;
  for (std::uint32_t n = k.first; n < k.last; ++n) {
    const instruction &i = d_.ways.code[n];
    visit(i, s);
    const bool last = n + 1 == k.last;
    const bool is_call = i.kind == op::call_indirect || (i.kind == op::call && i.target() != i.next());
    if (is_call)
      call(i, s, !(last && k.how == block::end::stop));
    if (last)
      leave(k, s);
    if (is_call) {
      const callee_traits callee = d_.callee_of(s, i);
      d_.step_over(s, i, callee);
      if (callee.keeps_registers)
        continue;
    } else {
      step(s, i, d_.context);
    }
    taken_.from_instruction(i, s);
    if (!leaving_)
      incoming_.after(i, s);
    leaving_ = leaving_ || (s.rsp().anchor != 0 && d_.context.anchors.list[s.rsp().anchor].made_at == i.at &&
                            nothing_stored(n + 1, k));
    depth(i, s);
  }
}

void collector::finish() {
  function_facts &f = out_.facts;
  mark_cold(map_, d_, block_of_call_, f.calls);
  find_live_registers(d_, block_of_call_, f);
  estimate_frequencies(d_, block_of_call_, f.calls);
  std::stable_sort(f.calls.begin(), f.calls.end(),
                   [](const call_site &a, const call_site &b) { return a.at < b.at; });
  f.touched = std::max(f.touched, f.frame);
  if (f.reason == no_bound::undecodable)
    f.pops = 0; // what was met behind bytes that are no instruction is none either
  f.taken = taken_.code();
  f.reads_return_address = incoming_.reads_return_address();
  f.arguments = hides_code(f.reason) ? unknown_arguments : incoming_.bytes();
  out_.found.insert(out_.found.end(), taken_.found.begin(), taken_.found.end());
  std::sort(f.fragments.begin(), f.fragments.end());
  f.fragments.erase(std::unique(f.fragments.begin(), f.fragments.end()), f.fragments.end());
}

scanned collector::run(std::uint32_t function) {
  out_.facts.returns = false;
  if (d_.gave_up)
    unbounded(no_bound::too_large, d_.ways.entry);
  std::vector<std::uint32_t> order;
  for (std::uint32_t b = 0; b < d_.ways.blocks.size(); ++b)
    if (d_.reached[b] != 0)
      order.push_back(b);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return d_.ways.code[d_.ways.blocks[a].first].at < d_.ways.code[d_.ways.blocks[b].first].at;
  });
  for (const std::uint32_t b : order)
    visit_block(b);
  taken_.from_relocations(map_.table.functions[function].entry, map_.table.functions[function].end);
  if (hides_code(out_.facts.reason)) {
    out_.facts.returns = true;
    taken_.from_sweep();
  }
  finish();
  return std::move(out_);
}

} // namespace

scanned collect_facts(const code_map &map, std::uint32_t function, depth_analysis &d) {
  return collector(map, d).run(function);
}

} // namespace nth::stack
