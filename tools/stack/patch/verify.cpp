#include "patch/verify.hpp"

#include "code/decode.hpp"
#include "image/cursor.hpp"
#include "image/unwind.hpp"
#include "patch/references.hpp"
#include "patch/verify_parts.hpp"

#include <algorithm>

#include <elf.h>
#include <fmt/format.h>

namespace nth::stack {

namespace {

bool is_entry(const planned_stub &s) noexcept { return (s.flags & NTH_STUB_ENTRY) != 0; }

} // namespace

verifier::verifier(const std::filesystem::path &original, const std::filesystem::path &patched,
                   const link_plan &plan)
    : before_(original), after_(patched), plan_(plan), blank_(find_pool(before_)), pool_(find_pool(after_)) {}

void verifier::wrong(std::string_view what) const {
  throw bad_input(
      fmt::format("{}: the patched program is not as planned: {}; please report this", after_.path, what));
}

// What an instruction of the patched program is, one after the other.
instruction verifier::next_at(address &at) const {
  const instruction i = decode(after_.bytes_at(at), at);
  at = i.next();
  return i;
}

void verifier::check_call(const call_redirect &call) {
  const instruction was = decode(before_.bytes_at(call.at), call.at);
  const instruction is = decode(after_.bytes_at(call.at), call.at);
  const bool called = was.kind == op::call || was.kind == op::call_indirect;
  const bool jumped = was.kind == op::jump || was.kind == op::jump_indirect;
  const op kind = called ? op::call : jumped ? op::jump : was.kind;
  if (is.kind != kind || is.target() != pool_.stub(call.stub) || (kind == op::branch && is.when != was.when))
    wrong(fmt::format("the call at {:#x} does not lead to stub {}", call.at, call.stub));
  // A jump that got shorter has no way on: what is left behind it does not run.
  if (is.length != was.length && !(was.kind == op::jump_indirect && is.length == 5))
    wrong(fmt::format("the call at {:#x} has another length than before", call.at));
  allow(call.at, was.length);
}

void verifier::check_references() {
  std::vector<address> functions;
  std::vector<std::uint64_t> distances;
  for (std::size_t i = 0; i < plan_.stubs.size(); ++i)
    if (is_entry(plan_.stubs[i])) {
      functions.push_back(plan_.stubs[i].target);
      distances.push_back(pool_.stub(i) - plan_.stubs[i].target);
    }
  const unwind_table unwind(after_);
  const function_table table(after_, unwind);
  const auto now = find_references(after_, table, functions, before_);
  const auto then = find_references(before_, table, functions);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (!now[i].places.empty())
      wrong(fmt::format("{} at {:#x} leads to {:#x} itself, not to its stub",
                        name_of(now[i].places.front().kind), now[i].places.front().at, functions[i]));
    for (const reference &r : then[i].places) {
      const auto held = [&](const module &m) {
        return r.size == 4 ? read_at<std::uint32_t>(m.file(), r.field).value_or(0)
                           : read_at<std::uint64_t>(m.file(), r.field).value_or(0);
      };
      const std::uint64_t mask = r.size == 4 ? 0xffffffffU : ~std::uint64_t{0};
      if (held(after_) != ((held(before_) + distances[i]) & mask))
        wrong(fmt::format("{} at {:#x} does not lead to the stub of {:#x}", name_of(r.kind), r.at,
                          functions[i]));
      allowed_.push_back({r.field, r.field + r.size});
    }
  }
}

void verifier::run() {
  check_stubs();
  check_header();
  check_tables();
  for (const call_redirect &call : plan_.calls)
    check_call(call);
  check_references();
  check_loaded_bytes();
  check_sections();
}

void verify(const std::filesystem::path &original, const std::filesystem::path &patched,
            const link_plan &plan) {
  verifier(original, patched, plan).run();
}

} // namespace nth::stack
