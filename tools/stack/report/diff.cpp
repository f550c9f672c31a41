#include "report/diff.hpp"

#include "report/text.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

namespace nth::stack {

namespace {

using nlohmann::json;

std::optional<std::int64_t> size_in(const json &function, const char *field) {
  const json &value = function.at(field);
  return value.is_null() ? std::nullopt : std::optional<std::int64_t>(value.get<std::int64_t>());
}

reported_function function_of(const json &f, const std::string &program) {
  reported_function r;
  r.name = f.at("name").get<std::string>();
  const auto symbol = f.at("symbol").get<std::string>();
  const auto module = f.at("module").get<std::string>();
  // The program may have another name than before: a.out, a.out.new.
  r.key = symbol.empty() ? "" : (module == program ? "" : module) + '\0' + symbol;
  r.frame = size_in(f, "frame");
  r.need = size_in(f, "need");
  const auto word = f.at("certainty").get<std::string>();
  r.certainty = word == "proved" ? 0 : word == "assumed" ? 1 : 2;
  r.reason = f.at("reason").get<std::string>();
  return r;
}

// Static functions of one name are told apart by their order, which is that of the report: by address.
void number_doubles(std::vector<reported_function> &functions) {
  std::map<std::string, std::size_t> seen;
  for (reported_function &f : functions)
    if (!f.key.empty())
      if (const std::size_t before = seen[f.key]++; before > 0)
        f.key += fmt::format("\1{}", before);
}

} // namespace

std::vector<reported_function> parse_report(std::istream &in, const std::string &file_name) {
  // Chains are most of a large report, and nothing here looks at them.
  const auto keep = [](int, json::parse_event_t event, json &value) {
    return event != json::parse_event_t::key || (value != "chain" && value != "back_edges");
  };
  try {
    const json whole = json::parse(in, keep);
    if (whole.at("tool") != "nth-stack" || whole.at("format") != 1)
      throw bad_input(
          fmt::format("{}: a report of another format: write both with this nth-stack", file_name));
    const json &modules = whole.at("modules");
    const std::string program = modules.empty() ? "" : modules.at(0).at("name").get<std::string>();
    std::vector<std::pair<std::uint64_t, reported_function>> by_address;
    for (const json &f : whole.at("functions"))
      by_address.emplace_back(std::stoull(f.at("address").get<std::string>(), nullptr, 16),
                              function_of(f, program));
    std::stable_sort(by_address.begin(), by_address.end(),
                     [](const auto &x, const auto &y) { return x.first < y.first; });
    std::vector<reported_function> functions;
    functions.reserve(by_address.size());
    for (auto &entry : by_address)
      functions.push_back(std::move(entry.second));
    number_doubles(functions);
    return functions;
  } catch (const json::exception &error) {
    throw bad_input(
        fmt::format("{}: no report of nth-stack report --json: {}", file_name, printable(error.what())));
  } catch (const std::logic_error &) { // stoull
    throw bad_input(
        fmt::format("{}: no report of nth-stack report --json: an address is no number", file_name));
  }
}

std::vector<reported_function> read_report(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw bad_input(fmt::format("{}: can't be read: a report by nth-stack report --json is needed", file));
  return parse_report(in, file);
}

namespace {

enum class change : std::uint8_t {
  less_certain,
  grew,
  frame_grew,
  more_certain,
  shrank,
  frame_shrank,
  added,
  removed
};

struct difference {
  change what = change::added;
  std::int64_t weight = 0; // the greater, the earlier
  std::string text;

  [[nodiscard]] bool worse() const noexcept { return what == change::less_certain || what == change::grew; }
};

constexpr std::string_view certainty_words[] = {"proved", "assumed", "unbounded"};

std::string need_of(const reported_function &f) {
  return f.need ? fmt::format("{} bytes, {}", *f.need, certainty_words[f.certainty])
                : fmt::format("unbounded: {}", printable(f.reason));
}

std::optional<difference> compare(const reported_function &before, const reported_function &after) {
  const std::string name = shorten(after.name, 60);
  if (before.certainty != after.certainty) {
    const bool worse = after.certainty > before.certainty;
    return difference{worse ? change::less_certain : change::more_certain,
                      (std::int64_t{after.certainty} << 40) + after.need.value_or(0),
                      fmt::format("{}: {}; was {}", name, need_of(after), need_of(before))};
  }
  if (before.need && after.need && *before.need != *after.need) {
    const std::int64_t by = *after.need - *before.need;
    return difference{by > 0 ? change::grew : change::shrank, std::abs(by),
                      fmt::format("{}: needs {} bytes, was {} ({:+})", name, *after.need, *before.need, by)};
  }
  if (before.frame && after.frame && *before.frame != *after.frame) {
    const std::int64_t by = *after.frame - *before.frame;
    return difference{by > 0 ? change::frame_grew : change::frame_shrank, std::abs(by),
                      fmt::format("{}: same need, its frame {} bytes, was {} ({:+})", name, *after.frame,
                                  *before.frame, by)};
  }
  return std::nullopt;
}

constexpr std::string_view headings[] = {"less certain", "need grew",    "frame grew", "more certain",
                                         "need shrank",  "frame shrank", "new",        "removed"};

bool is_wanted(const reported_function &f, const std::vector<std::string> &roots) {
  const std::string_view symbol =
      std::string_view(f.key).substr(std::min(f.key.find('\0') + 1, f.key.size()));
  return roots.empty() || std::any_of(roots.begin(), roots.end(), [&](const std::string &root) {
           return f.name == root || symbol.substr(0, symbol.find('\1')) == root ||
                  f.name.substr(0, f.name.find('(')) == root;
         });
}

void refuse_unknown(const std::vector<std::string> &roots, const std::vector<reported_function> &before,
                    const std::vector<reported_function> &after) {
  for (const std::string &root : roots) {
    const auto is_root = [&](const reported_function &f) { return is_wanted(f, {root}); };
    if (std::none_of(before.begin(), before.end(), is_root) &&
        std::none_of(after.begin(), after.end(), is_root))
      throw bad_input(fmt::format("neither report has a function {}", printable(root)));
  }
}

} // namespace

std::size_t write_difference(std::ostream &out, const std::vector<reported_function> &before,
                             const std::vector<reported_function> &after,
                             const std::vector<std::string> &roots) {
  refuse_unknown(roots, before, after);
  std::map<std::string_view, const reported_function *> old;
  for (const reported_function &f : before)
    if (!f.key.empty() && is_wanted(f, roots))
      old.emplace(f.key, &f);

  std::vector<difference> found;
  std::size_t nameless = 0;
  for (const reported_function &f : after) {
    nameless += f.key.empty() ? 1 : 0;
    if (f.key.empty() || !is_wanted(f, roots))
      continue;
    const auto was = old.find(f.key);
    if (was == old.end()) {
      found.push_back({change::added, f.need.value_or(std::int64_t{1} << 40),
                       fmt::format("{}: {}", shorten(f.name, 60), need_of(f))});
      continue;
    }
    if (std::optional<difference> d = compare(*was->second, f))
      found.push_back(std::move(*d));
    old.erase(was);
  }
  for (const auto &entry : old)
    found.push_back({change::removed, entry.second->need.value_or(0),
                     fmt::format("{}: {}", shorten(entry.second->name, 60), need_of(*entry.second))});

  std::sort(found.begin(), found.end(), [](const difference &x, const difference &y) {
    return std::tuple(x.what, -x.weight, std::string_view(x.text)) <
           std::tuple(y.what, -y.weight, std::string_view(y.text));
  });
  std::size_t worse = 0;
  for (const difference &d : found) {
    fmt::print(out, "{:<13} {}\n", headings[static_cast<int>(d.what)], d.text);
    worse += d.worse() ? 1 : 0;
  }
  fmt::print(out, "{} differences, {} for the worse\n", found.size(), worse);
  if (nameless > 0)
    fmt::print(out, "{} functions without a symbol are not compared\n", nameless);
  return worse;
}

} // namespace nth::stack
