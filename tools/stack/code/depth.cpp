#include "code/depth.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

constexpr std::size_t most_blocks = 300'000;

bool is_call(const instruction &i) noexcept {
  return i.kind == op::call_indirect || (i.kind == op::call && i.target() != i.next());
}

} // namespace

depth_analysis::depth_analysis(const code_map &map, std::uint32_t function)
    : ways(map, function), rows(map.unwind), map_(map), order_(ways.explore()) {
  state s;
  s.set(reg::rsp, on_stack(0, 8, 8));
  // A fragment that nothing was seen to jump to: the unwind table tells in which frame it runs.
  if (map.table.functions[function].kind == function_kind::fragment)
    if (const cfa_row *r = rows.row_at(ways.entry)) {
      const value base = on_stack(0, r->offset, r->offset);
      if (r->base == cfa_base::rsp)
        s.set(reg::rsp, base);
      else if (r->base == cfa_base::rbp) {
        s.set(reg::rbp, base);
        s.set(reg::rsp, on_stack(0, r->offset, far));
      }
    }
  enter(ways.entry, s);
}

void depth_analysis::grow() {
  const std::size_t n = ways.blocks.size();
  at_begin.resize(n);
  reached.resize(n);
  joins_.resize(n);
  queued_.resize(n);
}

void depth_analysis::queue(std::uint32_t b) {
  if (queued_[b] != 0)
    return;
  queued_[b] = 1;
  const address at = ways.code[ways.blocks[b].first].at;
  const std::uint64_t turn = b < order_.size() && order_[b] != no_block ? order_[b] : 1ULL << 32U | at;
  work_.emplace(turn, b);
}

void depth_analysis::enter(address to, const state &s) {
  const std::uint32_t b = ways.block_at(to);
  const std::uint32_t split = ways.split;
  grow();
  // The rest of a block that was split begins with what the first part leaves.
  if (split != no_block && reached[split] != 0)
    queue(split);
  enter_block(b, s);
}

void depth_analysis::enter_block(std::uint32_t b, const state &s) {
  if (reached[b] == 0) {
    reached[b] = 1;
    at_begin[b] = s;
    queue(b);
    return;
  }
  const auto bound = [&](const value &rsp) { return context.anchors.from_cfa(rsp).hi; };
  const bool bounded = bound(at_begin[b].rsp()) != far && bound(s.rsp()) != far;
  if (!join(at_begin[b], s, context.anchors, joins_[b]))
    return;
  ++joins_[b];
  if (widened_at == 0 && bounded && bound(at_begin[b].rsp()) == far)
    widened_at = ways.code[ways.blocks[b].first].at;
  queue(b);
}

void depth_analysis::run() {
  std::size_t steps = 0;
  for (;;) {
    while (!work_.empty()) {
      const std::uint32_t b = work_.top().second;
      work_.pop();
      queued_[b] = 0;
      follow(b);
      if (++steps > 100 * ways.blocks.size() + 1000 || ways.blocks.size() > most_blocks) {
        gave_up = true;
        return;
      }
    }
    if (context.anchors.changed) {
      // Where an anchor lies was told from another before that one grew.
      context.anchors.changed = false;
      for (std::uint32_t b = 0; b < ways.blocks.size(); ++b)
        for (std::uint32_t i = ways.blocks[b].first; reached[b] != 0 && i < ways.blocks[b].last; ++i)
          if (std::any_of(context.anchors.list.begin() + 1, context.anchors.list.end(),
                          [&](const auto &a) { return a.made_at == ways.code[i].at; }))
            queue(b);
      if (!work_.empty())
        continue;
    }
    if (!enter_pads())
      return;
  }
}

void depth_analysis::follow(std::uint32_t b) {
  state s = at_begin[b];
  state after;
  if (loop_of_probes(b, s, after)) {
    if (ways.blocks[b].next == no_block) {
      const std::uint32_t next = ways.block_at(ways.code[ways.blocks[b].last - 1].next());
      grow();
      ways.blocks[b].next = next;
    }
    enter_block(ways.blocks[b].next, after);
    return;
  }
  const std::uint32_t last = ways.blocks[b].last;
  for (std::uint32_t i = ways.blocks[b].first; i < last; ++i) {
    const instruction here = ways.code[i];
    if (!is_call(here)) {
      step(s, here, context);
      continue;
    }
    const callee_traits callee = callee_of(s, here);
    const bool ends = callee.never_returns || call_must_end(here, s);
    step_over(s, here, callee);
    pass_call(here, s);
    if (ends) {
      ways.end_after_call(b, i);
      return;
    }
  }
  leave(b, s);
}

void depth_analysis::step_over(state &s, const instruction &call, const callee_traits &callee) {
  if (callee.keeps_registers)
    return;
  step(s, call, context);
  if (callee.pops != 0)
    s.set(reg::rsp, add(s.rsp(), constant(callee.pops)));
}

callee_traits depth_analysis::callee_of(const state &s, const instruction &call) const noexcept {
  if (call.kind == op::call)
    return map_.callee(call.target());
  const value v = jump_value(s, call);
  if (v.kind == value_kind::word && v.width == 8 && v.stride == 0)
    return map_.callee_through(static_cast<address>(v.lo));
  return {};
}

// The block it came to; none: the jump was back into its own block.
std::uint32_t depth_analysis::go(std::uint32_t from, address to, const state &s) {
  const std::uint32_t b = ways.block_at(to);
  const std::uint32_t split = ways.split;
  grow();
  if (split != no_block && reached[split] != 0)
    queue(split);
  // A jump back into its own block: its rest is entered from above first, and jumps then.
  if (split == from)
    return no_block;
  enter_block(b, s);
  return b;
}

void depth_analysis::jump(std::uint32_t from, const std::vector<address> &targets, const state &s) {
  const block::end how = ways.blocks[from].how;
  std::vector<std::uint32_t> met;
  for (const address to : targets)
    if (const std::uint32_t b = go(from, to, s); b != no_block)
      met.push_back(b);
  // A target within the block itself has split it: the rest of it jumps, and was queued.
  if (ways.blocks[from].how != how)
    return;
  std::vector<std::uint32_t> &list = ways.blocks[from].ways;
  met.insert(met.end(), list.begin(), list.end());
  std::sort(met.begin(), met.end());
  met.erase(std::unique(met.begin(), met.end()), met.end());
  list = std::move(met);
}

void depth_analysis::leave(std::uint32_t b, state &s) {
  const block::end how = ways.blocks[b].how;
  const instruction last = ways.code[ways.blocks[b].last - 1];
  switch (how) {
  case block::end::falls:
    break;
  case block::end::jump:
    if (ways.is_local(ways.blocks[b].target))
      jump(b, {ways.blocks[b].target}, s);
    return;
  case block::end::branch: {
    const address target = ways.blocks[b].target;
    if (ways.is_local(target)) {
      state taken = s;
      if (refine(taken, last, true))
        jump(b, {target}, taken);
    }
    if (!refine(s, last, false))
      return;
    break;
  }
  case block::end::indirect:
    jump(b, targets_of(s, last).local, s);
    return;
  default:
    return;
  }
  // The jump above may have split this very block: then the rest of it leaves, and was queued.
  if (ways.blocks[b].how != how || ways.code[ways.blocks[b].last - 1].at != last.at)
    return;
  if (ways.blocks[b].next == no_block) {
    const address next = last.next();
    // A branch at the very end falls into another function.
    if (!ways.is_local(next))
      return;
    const std::uint32_t n = ways.block_at(next);
    const std::uint32_t split = ways.split;
    grow();
    if (split != no_block && reached[split] != 0)
      queue(split);
    ways.blocks[b].next = n;
  }
  enter_block(ways.blocks[b].next, s);
}

value depth_analysis::jump_value(const state &s, const instruction &i) const noexcept {
  return i.memory.size != 0 ? load(s, i.memory, 8) : s.at(i.from < reg::none ? i.from : reg::rsp);
}

jump_targets depth_analysis::targets_of(const state &s, const instruction &i) {
  const value &top = s.rsp();
  const bool at_entry = top.is_exact_stack() && top.anchor == 0 && top.lo <= 8;
  return resolve_jump(map_, ways, rows, i.at, jump_value(s, i), at_entry);
}

// lea -N(%rsp),%r; L: sub $step,%rsp; touch (%rsp); cmp %r,%rsp; jne L. Ends with rsp == r, however many turns.
bool depth_analysis::loop_of_probes(std::uint32_t b, const state &s, state &after) const {
  const block &k = ways.blocks[b];
  if (k.how != block::end::branch || k.last - k.first > 6)
    return false;
  const instruction &last = ways.code[k.last - 1];
  if (last.when != condition::not_equal || k.target != ways.code[k.first].at || !s.rsp().is_exact_stack())
    return false;
  state once = s;
  step_context none = context;
  for (std::uint32_t i = k.first; i + 1 < k.last; ++i)
    step(once, ways.code[i], none);
  const comparison &c = once.compared;
  if (c.kind != comparison::what::registers || (c.left != reg::rsp && c.right != reg::rsp))
    return false;
  const value &limit = once.at(c.left == reg::rsp ? c.right : c.left);
  const std::int64_t turn = once.rsp().lo - s.rsp().lo;
  const bool divides = limit.is_exact_stack() && once.rsp().is_exact_stack() &&
                       limit.anchor == s.rsp().anchor && once.rsp().anchor == limit.anchor && turn > 0 &&
                       limit.lo > s.rsp().lo && (limit.lo - s.rsp().lo) % turn == 0;
  if (!divides)
    return false;
  after = once;
  after.set(reg::rsp, limit);
  return true;
}

// The unwind table tells of the place behind the call a frame that cannot follow from the one before it: the compiler
// knows that the call does not return.
bool depth_analysis::call_must_end(const instruction &i, const state &s) {
  const cfa_row *r = rows.row_at(i.at);
  if (r == nullptr)
    return false;
  const cfa_row before = *r;
  const unwind_entry *e = rows.entry_of(i.at);
  if (i.next() >= e->end)
    return map_.table.containing(i.next()) != map_.table.containing(i.at);
  r = rows.row_at(i.next());
  if (r == nullptr || r->begin != i.next())
    return false;
  const value rsp = s.rsp();
  const value rbp = s.at(reg::rbp);
  const auto agrees = [&](const cfa_row &row) {
    if (row.base == cfa_base::rsp)
      return rsp.is_exact_stack() && rsp.anchor == 0 && rsp.lo == row.offset;
    return row.base == cfa_base::rbp && rbp.is_exact_stack() && rbp.anchor == 0 && rbp.lo == row.offset;
  };
  const bool tells =
      (r->base == cfa_base::rsp && rsp.is_exact_stack() && rsp.anchor == 0) || r->base == cfa_base::rbp;
  return tells && agrees(before) && !agrees(*r);
}

void depth_analysis::pass_call(const instruction &i, const state &s) {
  const unwind_entry *e = rows.entry_of(i.at);
  if (e == nullptr)
    return;
  if (std::find(known_entries_.begin(), known_entries_.end(), e) == known_entries_.end()) {
    known_entries_.push_back(e);
    learn_pads(*e);
  }
  if (groups_.empty())
    return;
  const value &rsp = s.rsp();
  const value &rbp = s.at(reg::rbp);
  for (pad_group &g : groups_) {
    const value &v = g.base == cfa_base::rsp ? rsp : rbp;
    if (v.kind == value_kind::stack && v.anchor == 0 && v.lo <= g.offset && g.offset <= v.hi) {
      state narrowed = s;
      narrowed.set(g.base == cfa_base::rsp ? reg::rsp : reg::rbp, on_stack(0, g.offset, g.offset));
      add_to_group(g, narrowed);
    }
  }
  add_to_group(any_call_, s);
}

void depth_analysis::learn_pads(const unwind_entry &e) {
  for (const address pad : e.landing_pads) {
    const cfa_row *r = rows.row_at(pad);
    const cfa_base base = r == nullptr ? cfa_base::unknown : r->base;
    const std::int64_t offset = r == nullptr ? 0 : r->offset;
    auto g = std::find_if(groups_.begin(), groups_.end(),
                          [&](const pad_group &x) { return x.base == base && x.offset == offset; });
    if (g == groups_.end()) {
      groups_.push_back({.base = base, .offset = offset});
      g = std::prev(groups_.end());
    }
    g->pads.push_back(pad);
    g->fresh = g->met;
  }
}

void depth_analysis::add_to_group(pad_group &g, state s) {
  if (!g.met) {
    g.met = g.fresh = true;
    g.after_calls = s;
    return;
  }
  // The unwinder takes off what a call had pushed as arguments (DW_CFA_GNU_args_size): of several calls the one with
  // the least on the stack tells what is there at the pad.
  const value rsp = s.rsp();
  value &known = g.after_calls.registers[static_cast<std::size_t>(reg::rsp)];
  if (g.base == cfa_base::rbp && rsp.is_exact_stack() && known.is_exact_stack() &&
      rsp.anchor == known.anchor) {
    const value least = rsp.lo < known.lo ? rsp : known;
    g.fresh = g.fresh || !(known == least);
    known = least;
    s.set(reg::rsp, least);
  }
  if (join(g.after_calls, s, context.anchors, g.times)) {
    ++g.times;
    g.fresh = true;
  }
}

// When all else is followed: what calls leave is known then. Pads of a frame that no call was seen in: of any call.
bool depth_analysis::enter_pads() {
  bool any = false;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].met && any_call_.met)
      add_to_group(groups_[i], any_call_.after_calls);
    if (!groups_[i].fresh)
      continue;
    groups_[i].fresh = false;
    any = true;
    const state s = groups_[i].after_calls;
    for (const address pad : groups_[i].pads)
      enter(pad, s);
  }
  return any;
}

} // namespace nth::stack
