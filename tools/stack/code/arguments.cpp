#include "code/arguments.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

constexpr std::array<reg, integer_arguments> integer_registers = {reg::rdi, reg::rsi, reg::rdx,
                                                                  reg::rcx, reg::r8,  reg::r9};
constexpr argument_mask vector_bit = 1U << integer_arguments;
// A call's results may be the next one's arguments as they are: rdx, xmm0, xmm1.
constexpr argument_mask of_results = 1U << 2U | vector_bit | vector_bit << 1U;

argument_mask arguments_in(std::uint16_t general, std::uint8_t vectors) noexcept {
  auto m = static_cast<argument_mask>(vectors * vector_bit);
  for (unsigned n = 0; n < integer_registers.size(); ++n)
    if ((general >> static_cast<unsigned>(integer_registers[n]) & 1U) != 0)
      m = static_cast<argument_mask>(m | 1U << n);
  return m;
}

// At one place in the code.
struct holds {
  argument_mask written = 0;    // on some way since the last call, or what that call answered
  argument_mask as_entered = 0; // on some way untouched since the entry
  argument_mask intact = 0;     // on all ways

  static constexpr holds anything() noexcept { return {all_arguments, all_arguments, 0}; }

  void write(argument_mask m) noexcept {
    written = static_cast<argument_mask>(written | m);
    as_entered = static_cast<argument_mask>(as_entered & ~m);
    intact = static_cast<argument_mask>(intact & ~m);
  }
  bool join(const holds &o) noexcept {
    const holds before = *this;
    written = static_cast<argument_mask>(written | o.written);
    as_entered = static_cast<argument_mask>(as_entered | o.as_entered);
    intact = static_cast<argument_mask>(intact & o.intact);
    return before.written != written || before.as_entered != as_entered || before.intact != intact;
  }
};

class argument_search {
public:
  argument_search(const code_map &map, const depth_analysis &d, function_facts &f)
      : map_(map), blocks_(d.ways.blocks), code_(d.ways.code), reached_(d.reached), facts_(f),
        at_begin_(blocks_.size()), known_(blocks_.size()), queued_(blocks_.size()),
        calls_pointers_(std::any_of(f.calls.begin(), f.calls.end(), [](const call_site &s) {
          return s.kind == call_kind::indirect || s.kind == call_kind::indirect_tail;
        })) {}

  void run(std::uint32_t entry);

private:
  void enter(std::uint32_t b, const holds &h);
  void follow();
  holds through(std::uint32_t b, bool record);
  void pass_call(const instruction &i, holds &h) const;
  [[nodiscard]] bool clobbers(const instruction &call) const;
  [[nodiscard]] call_site *site_at(address a) const;
  void read(const instruction &i, const holds &h);

  const code_map &map_;
  const std::vector<block> &blocks_;
  const std::vector<instruction> &code_;
  const std::vector<std::uint8_t> &reached_;
  function_facts &facts_;
  std::vector<holds> at_begin_;
  std::vector<std::uint8_t> known_;
  std::vector<std::uint8_t> queued_;
  std::vector<std::uint32_t> work_;
  argument_mask saved_ = 0;
  bool calls_pointers_;
};

void argument_search::enter(std::uint32_t b, const holds &h) {
  if (b == no_block)
    return;
  bool news = true;
  if (known_[b] != 0)
    news = at_begin_[b].join(h);
  else
    at_begin_[b] = h;
  known_[b] = 1;
  if (news && queued_[b] == 0) {
    queued_[b] = 1;
    work_.push_back(b);
  }
}

call_site *argument_search::site_at(address a) const {
  const auto s = std::lower_bound(facts_.calls.begin(), facts_.calls.end(), a,
                                  [](const call_site &c, address x) { return c.at < x; });
  return s != facts_.calls.end() && s->at == a ? &*s : nullptr;
}

// Whether the compiler had to take it that the callee leaves nothing in the argument registers. Of a function of this
// module it may know more (-fipa-ra), and what a descriptor of thread-local storage leads to keeps them all.
bool argument_search::clobbers(const instruction &call) const {
  address slot = 0;
  if (call.kind == op::call) {
    const plt_stub *stub = map_.image.plt_at(call.target());
    if (stub == nullptr || map_.table.at(call.target()) != no_function)
      return false;
    slot = stub->slot;
  } else {
    const call_site *s = site_at(call.at);
    if (s == nullptr || s->source.origin == pointer_origin::own)
      return false;
    if (s->source.origin != pointer_origin::slot)
      return true;
    slot = s->source.base;
  }
  for (const relocation &r : map_.image.relocations_in(slot, slot + 1))
    if (r.kind != relocation_kind::absolute || r.symbol == no_symbol || map_.image.symbols[r.symbol].defined)
      return false;
  return true;
}

void argument_search::pass_call(const instruction &i, holds &h) const {
  if (i.kind == op::call && map_.callee(i.target()).keeps_registers)
    return;
  if (clobbers(i))
    h.written = h.as_entered = 0;
  h.intact = 0;
  h.written = static_cast<argument_mask>(h.written | of_results);
}

// A store to the frame may be a function's of a variable number of parameters, which keeps all that may be among
// these, and may use the register afterwards where the compiler sees what it holds.
void argument_search::read(const instruction &i, const holds &h) {
  argument_mask m = arguments_in(i.reads, i.vector_reads);
  const bool to_frame =
      i.to_memory && i.writes_memory && is_general(i.memory.base) &&
      (arguments_in(static_cast<std::uint16_t>(1U << static_cast<unsigned>(i.memory.base)), 0) & h.intact) ==
          0;
  if (to_frame)
    saved_ = static_cast<argument_mask>(saved_ | (m & h.intact));
  else
    facts_.consumed = static_cast<argument_mask>(facts_.consumed | (m & h.intact));
}

holds argument_search::through(std::uint32_t b, bool record) {
  holds h = at_begin_[b];
  if (!calls_pointers_ && h.intact == 0)
    return h;
  const block &k = blocks_[b];
  for (std::uint32_t n = k.first; n < k.last; ++n) {
    const instruction &i = code_[n];
    const bool is_call = i.kind == op::call_indirect || (i.kind == op::call && i.target() != i.next());
    if (record) {
      read(i, h);
      if (call_site *s = i.kind == op::call_indirect || i.kind == op::jump_indirect ? site_at(i.at) : nullptr;
          s != nullptr) {
        s->written = h.written;
        s->as_entered = h.as_entered;
      }
    }
    if (is_call)
      pass_call(i, h);
    else
      h.write(arguments_in(i.writes, i.vector_writes));
  }
  return h;
}

void argument_search::follow() {
  while (!work_.empty()) {
    const std::uint32_t b = work_.back();
    work_.pop_back();
    queued_[b] = 0;
    const holds h = through(b, false);
    enter(blocks_[b].next, h);
    for (const std::uint32_t to : blocks_[b].ways)
      enter(to, h);
  }
}

void argument_search::run(std::uint32_t entry) {
  enter(entry, {0, all_arguments, all_arguments});
  follow();
  // Where exceptions and the like enter.
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    if (reached_[b] != 0 && known_[b] == 0) {
      enter(b, holds::anything());
      follow();
    }
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    if (reached_[b] != 0)
      through(b, true);
  facts_.consumed = static_cast<argument_mask>(facts_.consumed & ~saved_);
}

} // namespace

void find_arguments(const code_map &map, const depth_analysis &d, function_facts &f) {
  if (d.gave_up || hides_code(f.reason) || d.ways.blocks.empty())
    return;
  for (std::uint32_t b = 0; b < d.ways.blocks.size(); ++b)
    if (d.reached[b] != 0 && d.ways.code[d.ways.blocks[b].first].at == d.ways.entry)
      argument_search(map, d, f).run(b);
}

} // namespace nth::stack
