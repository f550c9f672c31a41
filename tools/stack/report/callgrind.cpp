#include "report/callgrind.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace nth::stack {

namespace {

// The format has a line for each cost, with names in force until others are given: ob and fn of the code that costs,
// cob and cfn of the callee of the next `calls` line. "(7) name" gives a name a number, "(7)" uses it. Places are
// given absolutely, relative to the last one ("+3", "-7"), or as the same ("*"); a `calls` line has the callee's
// place, and the line after it that of the call. Lines of jumps have places, too, and nothing else that matters here.
class reader {
public:
  explicit reader(std::string file_name) : file_name_(std::move(file_name)) {}

  executed_calls read(std::istream &in) {
    std::string line;
    for (line_ = 1; std::getline(in, line); ++line_) {
      if (!line.empty() && line.back() == '\r')
        line.pop_back();
      take(line);
    }
    if (!has_positions_)
      refuse("no line \"positions:\": this is no output of valgrind --tool=callgrind");
    if (call_count_)
      refuse("ends after \"calls=\": is the file cut short?");
    executed_calls all;
    all.command = std::move(command_);
    all.functions = std::move(functions_);
    for (const auto &entry : counts_)
      all.calls.push_back(
          {std::get<0>(entry.first), std::get<2>(entry.first), std::get<1>(entry.first), entry.second});
    return all;
  }

private:
  struct names {
    std::unordered_map<std::uint64_t, std::string> by_number;
  };

  [[noreturn]] void refuse(std::string_view what) const {
    throw bad_input(fmt::format("{}:{}: {}", file_name_, line_, what));
  }

  void take(std::string_view line) {
    if (line.empty() || line.front() == '#')
      return;
    const char c = line.front();
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*')
      return cost(line);
    if (starts(line, "positions:"))
      return positions(line);
    if (starts(line, "cmd:")) {
      command_ = line.substr(std::min(line.size(), line.find_first_not_of(' ', 4)));
      return;
    }
    if (starts(line, "ob="))
      object_ = callee_object_ = name_in(line.substr(3), objects_);
    else if (starts(line, "cob="))
      callee_object_ = name_in(line.substr(4), objects_);
    else if (starts(line, "fn="))
      function_ = function_of(name_in(line.substr(3), function_names_), object_);
    else if (starts(line, "cfn="))
      callee_ = function_of(name_in(line.substr(4), function_names_), callee_object_);
    else if (starts(line, "calls="))
      calls(line.substr(6));
  }

  static bool starts(std::string_view line, std::string_view with) noexcept { return line.starts_with(with); }

  void positions(std::string_view line) {
    has_positions_ = true;
    has_addresses_ = line.find("instr") != std::string_view::npos;
  }

  std::string name_in(std::string_view text, names &known) const {
    if (!text.starts_with('('))
      return std::string(text);
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    // "(below main)" is a name of its own.
    if (read.ec != std::errc() || read.ptr == text.data() + text.size() || *read.ptr != ')')
      return std::string(text);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()) + 1);
    if (!text.empty()) {
      text.remove_prefix(1);
      known.by_number[number] = text;
      return std::string(text);
    }
    const auto found = known.by_number.find(number);
    if (found == known.by_number.end())
      refuse(fmt::format("name ({}) was not given before", number));
    return found->second;
  }

  std::uint32_t function_of(std::string name, const std::string &object) {
    const std::size_t level = name.rfind('\'');
    if (level != std::string::npos && level + 1 < name.size() &&
        name.find_first_not_of("0123456789", level + 1) == std::string::npos)
      name.resize(level);
    const std::size_t version = name.find('@');
    if (version != std::string::npos && version > 0)
      name.resize(version);
    const auto added = index_.emplace(std::pair(object, name), static_cast<std::uint32_t>(functions_.size()));
    if (added.second) {
      address entry = 0; // a nameless function is called by its address
      if (name.starts_with("0x"))
        std::from_chars(name.data() + 2, name.data() + name.size(), entry, 16);
      functions_.push_back({std::move(name), object, entry});
    }
    return added.first->second;
  }

  // One place of a line, the address if there are addresses; nothing for what is none.
  std::optional<address> place_in(std::string_view text) const noexcept {
    const char first = text.empty() ? ' ' : text.front();
    if (first == '*')
      return last_;
    const bool relative = first == '+' || first == '-';
    if (relative)
      text.remove_prefix(1);
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal)
      text.remove_prefix(2);
    address value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (read.ec != std::errc() || read.ptr == text.data())
      return std::nullopt;
    return !relative ? value : first == '+' ? last_ + value : last_ - value;
  }

  void calls(std::string_view text) {
    std::uint64_t count = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    if (read.ec != std::errc() || read.ptr == text.data() + text.size() || *read.ptr != ' ')
      refuse("\"calls=\" without a number and a place");
    if (!function_ || !callee_)
      refuse("\"calls=\" before \"fn=\" and \"cfn=\"");
    const std::optional<address> entry =
        place_in(text.substr(static_cast<std::size_t>(read.ptr - text.data()) + 1));
    if (!entry)
      refuse("\"calls=\" without the place of the callee");
    if (has_addresses_ && functions_[*callee_].entry == 0)
      functions_[*callee_].entry = *entry;
    call_count_ = count;
  }

  void cost(std::string_view line) {
    const std::optional<address> place = place_in(line);
    if (!has_positions_ || !place)
      refuse("a cost without a place that can be read");
    last_ = *place;
    if (!call_count_)
      return;
    std::uint64_t &count = counts_[{*function_, has_addresses_ ? last_ : 0, *callee_}];
    count = __builtin_add_overflow(count, *call_count_, &count) ? ~std::uint64_t{0} : count;
    call_count_.reset();
    callee_object_ = object_; // cob= holds for one call
  }

  std::string file_name_;
  std::size_t line_ = 0;
  bool has_positions_ = false;
  bool has_addresses_ = false;
  address last_ = 0;
  std::string command_;
  std::string object_;
  std::string callee_object_;
  std::optional<std::uint32_t> function_;
  std::optional<std::uint32_t> callee_;
  std::optional<std::uint64_t> call_count_;
  names objects_;
  names function_names_;
  std::vector<executed_function> functions_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> index_;
  std::map<std::tuple<std::uint32_t, address, std::uint32_t>, std::uint64_t> counts_;
};

} // namespace

executed_calls parse_callgrind(std::istream &in, const std::string &file_name) {
  return reader(file_name).read(in);
}

executed_calls read_callgrind(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw bad_input(
        fmt::format("{}: can't be read: a file that valgrind --tool=callgrind wrote is needed", file));
  return parse_callgrind(in, file);
}

} // namespace nth::stack
