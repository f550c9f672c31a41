#include "code/flow.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

// Of one function's bytes that get an index of their own; what lies beyond goes to the hash table.
constexpr std::uint64_t most_near = 8U << 20U;

} // namespace

flow::flow(const code_map &map, std::uint32_t function) : map_(map) {
  const nth::stack::function &f = map.table.functions[function];
  entry = f.entry;
  end = std::max(f.end, f.entry);
  near_.assign(std::min(end - entry, most_near), no_block);
}

std::uint32_t flow::find(address a) const {
  if (a - entry < near_.size())
    return near_[a - entry];
  const auto found = distant_.find(a);
  return found == distant_.end() ? no_block : found->second;
}

void flow::remember(address a, std::uint32_t index) {
  if (a - entry < near_.size())
    near_[a - entry] = index;
  else
    distant_[a] = index;
}

// The block that holds an instruction; none if it was cut short before it.
std::uint32_t flow::holder_of(std::uint32_t index) const {
  const auto after = firsts_.upper_bound(index);
  if (after == firsts_.begin())
    return no_block;
  const std::uint32_t b = starts_[*std::prev(after)];
  return index < blocks[b].last ? b : no_block;
}

bool flow::is_local(address target) const {
  if (target == entry)
    return true;
  const std::uint32_t f = map_.table.at(target);
  if (f == no_function)
    return target != 0 && map_.image.plt_at(target) == nullptr; // 0: a weak symbol that is not there
  return map_.table.functions[f].kind == function_kind::fragment;
}

std::array<std::uint32_t, 2> flow::direct_ways(std::uint32_t b) {
  std::array<std::uint32_t, 2> to = {no_block, no_block};
  const block k = blocks[b];
  const bool jumps = k.how == block::end::jump || k.how == block::end::branch;
  if (jumps && is_local(k.target))
    to[1] = block_at(k.target);
  // The jump may have split this block: then it falls.
  if (blocks[b].how == block::end::falls) {
    to[1] = no_block;
    to[0] = blocks[b].next;
  } else if (k.how == block::end::branch) {
    const address next = code[k.last - 1].next();
    if (k.next == no_block && (next == entry || is_local(next)))
      blocks[b].next = block_at(next);
    to[0] = blocks[b].next;
  }
  return to;
}

std::vector<std::uint32_t> flow::explore() {
  std::vector<std::uint32_t> work = {block_at(entry)};
  std::vector<std::uint8_t> seen(1, 1);
  const auto meet = [&](std::uint32_t b) {
    seen.resize(blocks.size());
    if (b != no_block && seen[b] == 0) {
      seen[b] = 1;
      work.push_back(b);
    }
  };
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t to : direct_ways(b)) {
      meet(to);
      if (split != no_block)
        meet(blocks[split].next);
    }
  }
  // Backwards in the order in which a walk in depth is done with them.
  std::vector<std::uint32_t> order(blocks.size(), no_block);
  std::vector<std::pair<std::uint32_t, std::uint8_t>> path = {{block_at(entry), 0}};
  seen.assign(blocks.size(), 0);
  seen[path.front().first] = 1;
  auto number = static_cast<std::uint32_t>(blocks.size());
  while (!path.empty()) {
    auto &[b, turn] = path.back();
    if (turn == 2) {
      order[b] = --number;
      path.pop_back();
      continue;
    }
    const std::uint32_t to = direct_ways(b)[1 - turn++];
    if (to != no_block && seen[to] == 0) {
      seen[to] = 1;
      path.emplace_back(to, 0);
    }
  }
  return order;
}

bool flow::is_near(address target, address at) const {
  if (target > entry && target < end)
    return true;
  const std::uint32_t f = map_.table.containing(target);
  if (f == no_function)
    return false;
  const nth::stack::function &other = map_.table.functions[f];
  return other.kind == function_kind::fragment || (target != other.entry && map_.table.containing(at) == f);
}

const straight_sweep &flow::sweep() {
  if (sweep_.done)
    return sweep_;
  sweep_.done = sweep_.reliable = true;
  sweep_.begins.assign(near_.size(), 0);
  std::vector<address> targets;
  std::span<const std::uint8_t> bytes = map_.image.bytes_at(entry);
  for (std::size_t at = 0; at < sweep_.begins.size() && at < bytes.size();) {
    const instruction i = decode(bytes.subspan(at), entry + at);
    sweep_.begins[at] = 1;
    if (i.kind == op::undecoded)
      sweep_.reliable = false;
    if ((i.kind == op::jump || i.kind == op::branch) && i.target() - entry < sweep_.begins.size())
      targets.push_back(i.target());
    if (i.kind == op::lea && i.memory.base == reg::none && i.memory.index == reg::none)
      sweep_.constants.push_back(static_cast<address>(i.memory.displacement));
    else if (!map_.image.position_independent && i.has_immediate)
      sweep_.immediates.push_back(
          static_cast<address>(i.width == 4 ? i.immediate & 0xffffffff : i.immediate));
    at += i.length;
  }
  for (const address t : targets)
    sweep_.reliable = sweep_.reliable && sweep_.begins[t - entry] != 0;
  std::erase_if(sweep_.immediates, [&](address a) { return !map_.image.is_code(a); });
  for (std::vector<address> *all : {&sweep_.constants, &sweep_.immediates}) {
    std::sort(all->begin(), all->end());
    all->erase(std::unique(all->begin(), all->end()), all->end());
  }
  return sweep_;
}

std::uint32_t flow::block_at(address a) {
  split = no_block;
  const std::uint32_t index = find(a);
  if (index != no_block) {
    if (starts_[index] != no_block)
      return starts_[index];
    if (const std::uint32_t holder = holder_of(index); holder != no_block) {
      const auto made = static_cast<std::uint32_t>(blocks.size());
      block rest = blocks[holder];
      rest.first = index;
      blocks[holder].last = index;
      blocks[holder].how = block::end::falls;
      blocks[holder].next = made;
      blocks[holder].ways.clear();
      blocks.push_back(std::move(rest));
      starts_[index] = made;
      firsts_.insert(index);
      split = holder;
      return made;
    }
  }
  const auto made = static_cast<std::uint32_t>(blocks.size());
  blocks.emplace_back();
  decode_block(made, a);
  return made;
}

void flow::decode_block(std::uint32_t b, address a) {
  const std::uint32_t within = map_.table.containing(a);
  address boundary = end;
  bool sized = true;
  if (within != no_function) {
    boundary = map_.table.functions[within].end;
    sized = map_.table.functions[within].has_size && !map_.table.functions[within].cut_short;
  }
  std::span<const std::uint8_t> bytes =
      map_.image.is_code(a) ? map_.image.bytes_at(a) : std::span<const std::uint8_t>{};
  block made;
  made.first = made.last = static_cast<std::uint32_t>(code.size());
  const std::uint32_t first = made.first;
  for (address at = a;;) {
    if (at != a) {
      // What was decoded on another way joins here.
      const std::uint32_t known = find(at);
      if (known != no_block && known < first && holder_of(known) != no_block) {
        const std::uint32_t next = block_at(at);
        made.how = block::end::falls;
        made.next = next;
        break;
      }
      if (at >= boundary) {
        const std::uint32_t f = map_.table.at(at);
        if (f != no_function && map_.table.functions[f].kind != function_kind::fragment) {
          made.how = block::end::runs_out;
          made.target = at;
          break;
        }
      }
    }
    const instruction i = decode(bytes, at);
    const auto index = static_cast<std::uint32_t>(code.size());
    code.push_back(i);
    starts_.push_back(at == a ? b : no_block);
    if (at == a)
      firsts_.insert(firsts_.end(), index);
    remember(at, index);
    made.last = index + 1;
    const bool last_of_function = sized && i.next() >= boundary;
    if (i.kind == op::call || i.kind == op::call_indirect) {
      // Where a compiler puts nothing behind a call it knows that the call does not return.
      const bool ends = i.kind == op::call && map_.callee(i.target()).never_returns;
      if ((ends || last_of_function) && i.target() != i.next()) {
        made.how = block::end::stop;
        break;
      }
    } else if (i.kind >= op::jump) {
      close(made, i);
      break;
    }
    if (i.length > bytes.size())
      break;
    bytes = bytes.subspan(i.length);
    at = i.next();
  }
  blocks[b] = std::move(made);
}

void flow::close(block &b, const instruction &i) {
  switch (i.kind) {
  case op::jump:
    b.how = block::end::jump;
    b.target = i.target();
    return;
  case op::branch:
    b.how = block::end::branch;
    b.target = i.target();
    return;
  case op::jump_indirect:
    b.how = block::end::indirect;
    return;
  case op::ret:
    b.how = block::end::ret;
    return;
  case op::stop:
    b.how = block::end::stop;
    return;
  default:
    b.how = block::end::undecoded;
    return;
  }
}

void flow::end_after_call(std::uint32_t b, std::uint32_t at) {
  blocks[b].last = at + 1;
  blocks[b].how = block::end::stop;
  blocks[b].next = no_block;
  blocks[b].ways.clear();
}

} // namespace nth::stack
