#include "code/scan.hpp"

#include "code/arguments.hpp"
#include "code/collect.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

class scanner {
public:
  scanner(const module &m, const unwind_table &u, function_table &f, const scan_options &options)
      : module_(m), table_(f), options_(options), map_(m, u, f, options) {}

  std::vector<function_facts> run();

private:
  void scan(std::uint32_t f);
  void scan_known_not_to_return();
  bool scan_found();
  bool propagate();
  bool learn(std::uint32_t f);
  [[nodiscard]] bool stands(const function_facts &facts) const;
  bool refute_names(const std::vector<std::uint32_t> &named);
  void bound_what_pops();

  const module &module_;
  function_table &table_;
  const scan_options &options_;
  code_map map_;
  std::vector<function_facts> facts_;
  std::vector<bool> done_; // scanned at least once
  std::vector<bool> returns_to_caller_;
  std::vector<std::uint8_t> learnt_; // in this round, of who calls it: to be scanned again
  std::vector<address> found_;
};

void scanner::scan(std::uint32_t f) {
  depth_analysis d(map_, f);
  d.run();
  scanned s = collect_facts(map_, f, d);
  find_arguments(map_, d, s.facts);
  facts_[f] = std::move(s.facts);
  done_[f] = true;
  returns_to_caller_[f] = s.returns_to_caller;
  found_.insert(found_.end(), s.found.begin(), s.found.end());
}

// Those whose names tell that they never return, and what they call, come first: else most functions would be looked
// at twice, for most call one of them.
void scanner::scan_known_not_to_return() {
  constexpr std::size_t most = 400;
  std::vector<std::uint32_t> first;
  std::vector<std::uint8_t> listed(facts_.size());
  const auto add = [&](std::uint32_t f) {
    if (f < listed.size() && listed[f] == 0 && first.size() < most) {
      listed[f] = 1;
      first.push_back(f);
    }
  };
  for (std::uint32_t f = 0; f < facts_.size(); ++f)
    if (map_.callee(table_.functions[f].entry).never_returns)
      add(f);
  for (std::uint32_t f = 0; f < facts_.size(); ++f)
    if (never_returns(table_.functions[f].symbol))
      add(f);
  for (std::size_t i = 0; i < first.size(); ++i) {
    scan(first[i]);
    for (const call_site &c : facts_[first[i]].calls)
      if (c.kind == call_kind::direct || c.kind == call_kind::tail)
        add(table_.at(c.target));
  }
  while (refute_names(first))
    for (const std::uint32_t f : first)
      scan(f);
  while (propagate())
    ;
}

// A program's own function may have the name of one that leaves its caller for good.
bool scanner::refute_names(const std::vector<std::uint32_t> &named) {
  bool any = false;
  for (const std::uint32_t f : named)
    if (returns_to_caller_[f] && map_.set_returns(f))
      any = true;
  return any;
}

// Functions that code calls or names and that nothing else told of.
bool scanner::scan_found() {
  std::vector<address> news;
  news.swap(found_);
  std::sort(news.begin(), news.end());
  news.erase(std::unique(news.begin(), news.end()), news.end());
  const std::size_t before = table_.functions.size();
  for (const address a : news)
    table_.add(a, module_);
  map_.grow();
  facts_.resize(table_.functions.size());
  done_.resize(facts_.size());
  returns_to_caller_.resize(facts_.size());
  for (std::size_t f = before; f < facts_.size(); ++f)
    scan(static_cast<std::uint32_t>(f));
  return before != facts_.size();
}

// What callers of `f` must know; false: nothing new.
bool scanner::learn(std::uint32_t f) {
  if (!done_[f] || table_.functions[f].kind == function_kind::fragment)
    return false;
  const bool ends = !facts_[f].returns && map_.set_never_returns(f);
  const bool pops = map_.set_pops(f, facts_[f].pops);
  learnt_[f] = pops ? 1 : 0;
  return ends || pops;
}

// Whether what was found of a function still holds with what is known now of those that it calls.
bool scanner::stands(const function_facts &facts) const {
  return std::none_of(facts.calls.begin(), facts.calls.end(), [&](const call_site &c) {
    if (c.kind == call_kind::direct || c.kind == call_kind::tail) {
      const std::uint32_t f = table_.at(c.target);
      return (c.returns && map_.callee(c.target).never_returns) || (f != no_function && learnt_[f] != 0) ||
             (f == no_function && c.returns && map_.callee(c.target).pops != 0);
    }
    return c.returns && c.source.origin == pointer_origin::slot &&
           map_.callee_through(c.source.base).never_returns;
  });
}

// Whoever calls a function that turned out never to return is looked at again: less of it is reached. Or one that
// leaves less on the stack than was there.
bool scanner::propagate() {
  learnt_.assign(facts_.size(), 0);
  bool any = false;
  for (std::uint32_t f = 0; f < facts_.size(); ++f)
    any = learn(f) || any;
  if (!any)
    return false;
  for (std::uint32_t f = 0; f < facts_.size(); ++f)
    if (!stands(facts_[f]))
      scan(f);
  return true;
}

// Callers through pointers and from other modules count on a stack that is as it was.
void scanner::bound_what_pops() {
  for (std::uint32_t f = 0; f < facts_.size(); ++f) {
    function_facts &facts = facts_[f];
    if (facts.pops == 0 || facts.bound == frame_bound::unbounded)
      continue;
    const address entry = table_.functions[f].entry;
    const bool escapes = table_.functions[f].exported || map_.in_data(entry) ||
                         std::any_of(facts_.begin(), facts_.end(), [&](const function_facts &each) {
                           return std::binary_search(each.taken.begin(), each.taken.end(), entry);
                         });
    if (!escapes)
      continue;
    facts.bound = frame_bound::unbounded;
    facts.reason = no_bound::pops_arguments;
    facts.reason_at = entry;
  }
}

std::vector<function_facts> scanner::run() {
  facts_.resize(table_.functions.size());
  done_.resize(facts_.size());
  returns_to_caller_.resize(facts_.size());
  scan_known_not_to_return();
  for (std::uint32_t f = 0; f < facts_.size(); ++f) {
    if (!done_[f])
      scan(f);
    if (options_.progress && f % 64 == 0)
      options_.progress(f, facts_.size());
  }
  while (scan_found() || propagate())
    ;
  bound_what_pops();
  if (options_.progress)
    options_.progress(facts_.size(), facts_.size());
  return std::move(facts_);
}

} // namespace

std::vector<function_facts> scan_module(const module &m, const unwind_table &u, function_table &f,
                                        const scan_options &options) {
  return scanner(m, u, f, options).run();
}

} // namespace nth::stack
