#include "notes/names.hpp"

#include <algorithm>
#include <array>

namespace nth::stack {

namespace {

constexpr std::array<std::string_view, 9> clone_marks = {
    ".isra", ".part", ".constprop", ".cold", ".lto_priv", ".llvm", ".localalias", ".warm", ".hot"};

// ".isra.0" and ".cold" at the end of a name: where it begins; npos.
std::size_t clone_suffix(std::string_view name) noexcept {
  const std::size_t text = name.find_last_not_of("0123456789");
  if (text == std::string_view::npos)
    return text;
  const std::size_t end = text + 1 < name.size() && name[text] == '.' ? text : name.size();
  for (const std::string_view mark : clone_marks)
    if (end > mark.size() && name.substr(end - mark.size(), mark.size()) == mark)
      return end - mark.size();
  return std::string_view::npos;
}

constexpr std::string_view operator_word = "operator";

// Whether the operator's own sign stands at `at`: "operator<", "operator->".
bool names_operator(std::string_view s, std::size_t at) noexcept {
  while (at > 0 && std::string_view("<>-=").find(s[at - 1]) != std::string_view::npos)
    --at;
  return at >= operator_word.size() &&
         s.substr(at - operator_word.size(), operator_word.size()) == operator_word;
}

} // namespace

std::string_view without_clone(std::string_view name) noexcept {
  if (const std::size_t note = name.find(" [clone "); note != std::string_view::npos)
    name = name.substr(0, note);
  for (std::size_t at = clone_suffix(name); at != std::string_view::npos; at = clone_suffix(name))
    name = name.substr(0, at);
  return name;
}

// One pass that leaves out what stands in brackets, then the return type: what is before the last space outside of
// them. "(anonymous namespace)" and "{lambda(int)#1}" are names, not parameters.
std::string without_parameters(std::string_view demangled) {
  constexpr std::string_view unnamed = "(anonymous namespace)";
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (demangled.substr(i, unnamed.size()) == unnamed) {
      if (depth == 0)
        out += "(anonymous_namespace)";
      i += unnamed.size() - 1;
    } else if ((c == '<' || c == '>') && names_operator(demangled, i)) {
      if (depth == 0)
        out += c;
    } else if (c == '(' && depth == 0 && out.ends_with(operator_word) && demangled.substr(i, 2) == "()") {
      out += "()";
      ++i;
    } else if (c == '(' || c == '<' || c == '{' || c == '[') {
      ++depth;
    } else if (c == ')' || c == '>' || c == '}' || c == ']') {
      depth -= depth > 0 ? 1 : 0;
    } else if (depth == 0) {
      out += c;
    }
  }
  for (const std::string_view after : {" const", " volatile", " &", " &&", " noexcept"})
    if (out.ends_with(after))
      out.resize(out.size() - after.size());
  const std::size_t op = out.rfind(operator_word);
  const std::size_t space = op == std::string::npos ? out.rfind(' ') : out.rfind(' ', op);
  return space == std::string::npos ? out : out.substr(space + 1);
}

std::string_view last_part(std::string_view bare) noexcept {
  const std::size_t at = bare.rfind("::");
  return at == std::string_view::npos ? bare : bare.substr(at + 2);
}

} // namespace nth::stack
