#include "report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace nth::stack {

std::string json_string(std::string_view s) {
  return nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_string_for_html(std::string_view s) {
  std::string text = json_string(s);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

namespace {

bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

// Bytes of the character that begins s; 0: none does.
std::size_t character_at(std::string_view s) noexcept {
  const auto lead = static_cast<unsigned char>(s.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > s.size() ||
      !std::all_of(s.begin() + 1, s.begin() + static_cast<std::ptrdiff_t>(length), continues))
    return 0;
  const bool control =
      lead < 0x20 || lead == 0x7F || (lead == 0xC2 && static_cast<unsigned char>(s[1]) < 0xA0);
  return control ? 0 : length;
}

} // namespace

std::string printable(std::string_view s) {
  std::string text;
  text.reserve(s.size());
  while (!s.empty()) {
    const std::size_t length = character_at(s);
    if (length == 0)
      text += '?';
    else
      text += s.substr(0, length);
    s.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::size_t width_of(std::string_view utf8) noexcept {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return !continues(c); }));
}

namespace {

// The outermost pairs of open…close become open…close with an ellipsis between; the < of operator< stays.
std::string collapse(std::string_view name, char open, char close) {
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && name.substr(i).starts_with("operator")) {
      text += "operator";
      i += 8;
      while (i < name.size() && std::string_view("<>-=()!").find(name[i]) != std::string_view::npos)
        text += name[i++];
      --i;
      continue;
    }
    const char c = name[i];
    if (depth == 0 && c == '(' && name.substr(i).starts_with("(anonymous namespace)")) {
      text += "(anonymous namespace)";
      i += 20;
      continue;
    }
    if (c == close && depth > 0) {
      if (--depth == 0)
        text += std::string(i > 0 && name[i - 1] == open ? "" : "…") + c;
      continue;
    }
    if (depth == 0)
      text += c;
    depth += c == open ? 1 : 0;
  }
  return depth == 0 ? text : std::string(name);
}

std::string_view from_character(std::string_view s, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i < s.size(); ++i)
    if (!continues(s[i]) && count-- == 0)
      break;
  return s.substr(i);
}

} // namespace

std::string shorten(std::string_view name, std::size_t width) {
  std::string text = printable(name);
  if (width_of(text) > width)
    text = collapse(text, '(', ')');
  if (width_of(text) > width)
    text = collapse(text, '<', '>');
  const std::size_t length = width_of(text);
  if (length <= width || width < 4)
    return text;
  const std::size_t head = width / 3; // the end tells more: it is the function's own name
  const std::string_view whole = text;
  const std::string_view tail = from_character(whole, length - (width - head - 1));
  return std::string(whole.substr(0, whole.size() - from_character(whole, head).size())) + "…" +
         std::string(tail);
}

std::optional<std::int64_t> parse_size(std::string_view s) noexcept {
  std::int64_t value = 0;
  const auto read = std::from_chars(s.data(), s.data() + s.size(), value);
  if (read.ec != std::errc() || value < 0)
    return std::nullopt;
  const std::string_view unit(read.ptr, static_cast<std::size_t>(s.data() + s.size() - read.ptr));
  int shift = 0;
  if (unit == "K" || unit == "k" || unit == "KiB")
    shift = 10;
  else if (unit == "M" || unit == "m" || unit == "MiB")
    shift = 20;
  else if (unit == "G" || unit == "g" || unit == "GiB")
    shift = 30;
  else if (!unit.empty() && unit != "B")
    return std::nullopt;
  if (value > (std::int64_t{1} << 62) >> shift)
    return std::nullopt;
  return value << shift;
}

std::string human_size(std::int64_t bytes) {
  const auto n = static_cast<double>(bytes);
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024)
    return fmt::format("{:.1f} KiB", n / 1024);
  if (bytes < 1024 * 1024 * 1024)
    return fmt::format("{:.1f} MiB", n / (1024 * 1024));
  return fmt::format("{:.1f} GiB", n / (1024 * 1024 * 1024));
}

std::string hex(std::uint64_t address) { return fmt::format("{:#x}", address); }

namespace {

// Letters to insert, leave out or change; above `most`, any number that is greater.
std::size_t edits(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most)
    return most + 1;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    std::size_t least = row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least > most)
      return most + 1;
  }
  return row[b.size()];
}

} // namespace

std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string_view> &names,
                                    std::size_t most) {
  const std::size_t limit = std::max<std::size_t>(2, wanted.size() / 4);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view name : names) {
    std::size_t distance = edits(wanted, name, limit);
    // Half a name is no typing error, but it is a hint: ranks behind the errors.
    if (distance > limit && wanted.size() >= 3 && name.find(wanted) != std::string_view::npos)
      distance = limit + name.size() - wanted.size();
    else if (distance > limit)
      continue;
    found.emplace_back(distance, name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i)
    nearest.emplace_back(found[i].second);
  return nearest;
}

} // namespace nth::stack
