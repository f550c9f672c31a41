#include "image/function_names.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <cxxabi.h>

namespace nth::stack {

namespace {

constexpr std::size_t longest_demangled = 1 << 14;
constexpr std::uint64_t most_work = 1 << 22;

struct text_free {
  void operator()(char *text) const noexcept { std::free(text); }
};

// How long a C++ name may become, in about a word a unit, no less than it does. A reference back (S1_, T_) repeats
// at most all that was before it was first possible; a chain of references, each to what repeats the one before
// twice, doubles each time, which is how some forty letters would fill the memory.
class expansion {
public:
  static std::uint64_t bound(std::string_view name) {
    expansion e;
    for (std::size_t i = 0; i < name.size() && e.size_ <= most_work; ++i) {
      ++e.size_;
      const std::string_view rest = name.substr(i);
      if (rest.starts_with('I') || rest.starts_with('J'))
        e.template_arguments_.clear(); // T_ may mean others from here on
      else if (rest.starts_with('S'))
        e.refer(rest.substr(1), e.parts_);
      else if (rest.starts_with('T'))
        e.refer(rest.substr(1), e.template_arguments_);
      else if (rest.starts_with("Dp") || rest.starts_with("sp"))
        e.expand_pack(name.size());
    }
    return e.size_;
  }

private:
  struct part {
    std::uint64_t number = 0;
    std::uint64_t size = 0; // of it and of those with smaller numbers, at most
  };

  // "_" is number 0, "0_" 1, "Z_" 36; other letters are no reference.
  void refer(std::string_view text, std::vector<part> &parts) {
    const auto end = text.find('_');
    if (end > 4)
      return;
    std::uint64_t number = 0;
    for (const char c : text.substr(0, end)) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (c < 'A' || c > 'Z'))
        return;
      number = number * 36 + static_cast<std::uint64_t>(digit ? c - '0' : c - 'A' + 10);
    }
    if (end != 0)
      ++number;
    const auto known = std::ranges::lower_bound(parts, number, {}, &part::number);
    const std::uint64_t size = known != parts.end() ? known->size : size_;
    if (known == parts.end())
      parts.push_back({number, size});
    size_ += size;
  }

  // Packs in packs multiply.
  void expand_pack(std::size_t elements) {
    if (std::exchange(in_pack_, true))
      size_ *= elements;
  }

  std::uint64_t size_ = 0;
  bool in_pack_ = false;
  std::vector<part> parts_, template_arguments_;
};

bool is_mangled(std::string_view symbol) noexcept {
  return symbol.starts_with("_Z") || symbol.starts_with("_R");
}

std::size_t leading_underscores(std::string_view symbol) noexcept {
  return is_mangled(symbol) ? 0 : std::min(symbol.find_first_not_of('_'), symbol.size());
}

} // namespace

bool better_name(const name_candidate &a, const name_candidate &b) noexcept {
  const auto rank = [](const name_candidate &c) {
    return std::tuple(!c.global, leading_underscores(c.symbol), c.symbol.size(), c.symbol);
  };
  return rank(a) < rank(b);
}

std::string demangle(std::string_view symbol) {
  std::string name(symbol);
  if (!symbol.starts_with("_Z") || expansion::bound(symbol) > most_work)
    return name;
  int status = 0;
  const std::unique_ptr<char, text_free> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  if (status != 0 || text == nullptr)
    return name;
  const std::string_view result = text.get();
  return result.empty() || result.size() > longest_demangled ? name : std::string(result);
}

cold_part is_cold_part(std::string_view symbol) noexcept {
  constexpr std::string_view mark = ".cold";
  const auto at = symbol.rfind(mark);
  if (at == std::string_view::npos || at == 0)
    return cold_part::no;
  std::string_view rest = symbol.substr(at + mark.size());
  if (rest.empty())
    return cold_part::yes;
  if (rest.size() < 2 || rest.front() != '.')
    return cold_part::no;
  rest.remove_prefix(1);
  return rest.find_first_not_of("0123456789") == std::string_view::npos ? cold_part::numbered : cold_part::no;
}

} // namespace nth::stack
