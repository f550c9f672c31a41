// The annotation file, an entry a line (doc/stack-notes.md):
//
//   function NAME [in MODULE] needs N [bytes]               [proved] because "…"
//   function NAME [in MODULE] frame N [bytes]               [proved] because "…"
//   function NAME [in MODULE] entered at most N times       [proved] because "…"
//   function NAME [in MODULE] calls only NAME…              [proved] because "…"
//   function NAME [in MODULE] calls nothing                 [proved] because "…"
//   call at ADDRESS of NAME [in MODULE] calls only NAME…    [proved] because "…"
//   function NAME [in MODULE] never calls NAME…             [proved] because "…"
//   function NAME [in MODULE] blocks                                 because "…"
#include "notes/annotations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

namespace nth::stack {

namespace {

using what = annotation::what;

constexpr std::int64_t largest_number = std::int64_t{1} << 50;
constexpr std::int64_t return_address = 8; // each frame has one

struct token {
  std::string text;
  bool quoted = false;
};

class line_reader {
public:
  line_reader(std::string_view text, std::string where) : where_(std::move(where)) { split(text); }

  [[nodiscard]] bool empty() const noexcept { return tokens_.empty(); }

  annotation read() {
    annotation a;
    a.where = where_;
    if (take("call")) {
      expect("at", "an address: call at 0x1234 of f calls only g");
      a.site = number("the address of the call, such as 0x1234", 1, true);
      expect("of", "the function that the call is in: call at 0x1234 of f calls only g");
      read_function(a);
      expect("calls", "what it calls: calls only g h, calls nothing");
      read_targets(a);
    } else if (take("function")) {
      read_function(a);
      read_statement(a);
    } else {
      fail(fmt::format("{} begins no entry", shown()),
           "\"function NAME …\" or \"call at ADDRESS of NAME …\"");
    }
    a.checked = take("proved");
    expect("because", "the reason, in quotes: because \"measured with …\"");
    if (at_ == tokens_.size() || !tokens_[at_].quoted)
      fail(fmt::format("{} is no reason", shown()), "text in quotes");
    a.because = tokens_[at_++].text;
    if (a.because.find_first_not_of(' ') == std::string::npos)
      fail("the reason is empty", "why this may be believed: an argument, a measurement");
    if (at_ != tokens_.size())
      fail(fmt::format("{} comes after the reason", shown()), "the end of the line, or a comment after #");
    return a;
  }

private:
  [[noreturn]] void fail(std::string_view wrong, std::string_view wanted) const {
    throw bad_input(fmt::format("{}: {}; here may stand {}", where_, wrong, wanted));
  }

  [[nodiscard]] std::string shown() const {
    if (at_ == tokens_.size())
      return "the end of the line";
    return fmt::format("\"{}\"", tokens_[at_].text);
  }

  void split(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == '#')
        return;
      if (c == ' ' || c == '\t' || c == '\r') {
        ++i;
      } else if (c == '"') {
        tokens_.push_back({quoted(text, i), true});
      } else {
        const std::size_t end = std::min(text.find_first_of(" \t\r\"#", i), text.size());
        tokens_.push_back({std::string(text.substr(i, end - i)), false});
        i = end;
      }
    }
  }

  std::string quoted(std::string_view text, std::size_t &i) const {
    std::string out;
    for (++i; i < text.size(); ++i) {
      if (text[i] == '"') {
        ++i;
        return out;
      }
      if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\'))
        ++i;
      out += text[i];
    }
    fail("a quote is not closed", "\" before the end of the line");
  }

  bool take(std::string_view word) {
    if (at_ == tokens_.size() || tokens_[at_].quoted || tokens_[at_].text != word)
      return false;
    ++at_;
    return true;
  }

  void expect(std::string_view word, std::string_view wanted) {
    if (!take(word))
      fail(fmt::format("{} where \"{}\" was expected", shown(), word), wanted);
  }

  [[nodiscard]] bool is_word(std::string_view word) const {
    return at_ < tokens_.size() && !tokens_[at_].quoted && tokens_[at_].text == word;
  }

  std::string name(std::string_view wanted) {
    if (at_ == tokens_.size() || tokens_[at_].text.empty() || is_word("because") || is_word("proved"))
      fail(fmt::format("{} is no name", shown()), wanted);
    return tokens_[at_++].text;
  }

  std::vector<std::string> names() {
    std::vector<std::string> list = {name("names of functions; in quotes where they contain spaces")};
    while (at_ < tokens_.size() && !is_word("because") && !is_word("proved"))
      list.push_back(name("names of functions"));
    return list;
  }

  std::uint64_t number(std::string_view wanted, std::uint64_t least, bool is_address = false) {
    if (at_ == tokens_.size() || tokens_[at_].quoted)
      fail(fmt::format("{} is no number", shown()), wanted);
    std::string_view text = tokens_[at_].text;
    const int base = text.starts_with("0x") ? 16 : 10;
    text.remove_prefix(base == 16 ? 2 : 0);
    std::uint64_t unit = 1;
    if (!is_address && base == 10 && (text.ends_with('K') || text.ends_with('M'))) {
      unit = text.back() == 'K' ? std::uint64_t{1} << 10 : std::uint64_t{1} << 20;
      text.remove_suffix(1);
    }
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, base);
    if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
      fail(fmt::format("{} is no number", shown()), wanted);
    if (error == std::errc::result_out_of_range ||
        (!is_address && n > static_cast<std::uint64_t>(largest_number) / unit))
      fail(fmt::format("{} is too large", shown()), fmt::format("a number up to {}", largest_number));
    n *= unit;
    if (n < least)
      fail(fmt::format("{} is too small", shown()), fmt::format("a number from {}", least));
    ++at_;
    return n;
  }

  void read_function(annotation &a) {
    a.function = name("the name of a function; in quotes where it contains spaces");
    if (take("in"))
      a.module = name("the name of a library, such as libc.so.6 or libc.so*");
  }

  void read_targets(annotation &a) {
    a.kind = what::targets;
    if (take("nothing"))
      return;
    expect("only", "what is reached through pointers: calls only g h, calls nothing");
    a.names = names();
  }

  void read_statement(annotation &a) {
    const auto bytes = [&](what kind) {
      a.kind = kind;
      a.bytes = static_cast<std::int64_t>(number("bytes, the return address included", return_address));
      take("bytes");
    };
    if (take("needs"))
      return bytes(what::need);
    if (take("frame"))
      return bytes(what::frame);
    if (take("entered")) {
      a.kind = what::depth;
      expect("at", "how often: entered at most 30 times");
      expect("most", "how often: entered at most 30 times");
      a.bytes = static_cast<std::int64_t>(number("how often it is on one stack at most", 1));
      if (!take("times"))
        expect("time", "how often: entered at most 30 times");
      return;
    }
    if (take("calls"))
      return read_targets(a);
    if (take("never")) {
      a.kind = what::no_call;
      expect("calls", "what it does not call: never calls abort");
      a.names = names();
      return;
    }
    if (take("blocks")) {
      a.kind = what::blocks;
      return;
    }
    fail(fmt::format("{} says nothing about {}", shown(), a.function),
         "needs N, frame N, entered at most N times, calls only NAME…, calls nothing, never calls NAME…, "
         "blocks");
  }

  std::string where_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

// Two entries of a kind for the same function, and calls that are both said to happen and said not to.
class contradictions {
public:
  void check(const annotation &a) {
    const auto [at, is_new] = said_.try_emplace({a.kind, a.function, a.module, a.site}, &a);
    if (!is_new)
      throw bad_input(fmt::format("{}: the same is said of {} at {} already; keep one of the two", a.where,
                                  a.function, at->second->where));
    for (const what other : {what::targets, what::no_call})
      if (const auto met = said_.find({other, a.function, a.module, 0});
          met != said_.end() && other != a.kind)
        check_calls(a, *met->second);
  }

private:
  static void check_calls(const annotation &a, const annotation &b) {
    for (const std::string &name : a.names)
      if (std::find(b.names.begin(), b.names.end(), name) != b.names.end())
        throw bad_input(fmt::format(
            "{}: {} says that {} may call {} and the other that it never does; keep one of the two", a.where,
            b.where, a.function, name));
  }

  std::map<std::tuple<what, std::string, std::string, address>, const annotation *> said_;
};

} // namespace

annotations parse_annotations(std::string_view text, std::string_view file_name) {
  annotations result;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    line_reader reader(text.substr(begin, end - begin), fmt::format("{}:{}", file_name, ++line));
    if (!reader.empty())
      result.list.push_back(reader.read());
    begin = end + 1;
  }
  contradictions said;
  for (const annotation &a : result.list)
    said.check(a);
  return result;
}

annotations read_annotations(const std::filesystem::path &file) {
  std::error_code none;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, none))
    throw bad_input(fmt::format("{}: cannot be read; name a file of notes", file.string()));
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad())
    throw bad_input(fmt::format("{}: reading it failed", file.string()));
  return parse_annotations(text, file.string());
}

void append(annotations &to, annotations from) {
  // Who knows the program knows better than what comes with the command.
  std::erase_if(to.list, [&](const annotation &old) {
    return old.built_in && std::ranges::any_of(from.list, [&](const annotation &a) {
             return !a.built_in && a.kind == old.kind && a.function == old.function && a.site == old.site;
           });
  });
  std::move(from.list.begin(), from.list.end(), std::back_inserter(to.list));
  std::move(from.misplaced.begin(), from.misplaced.end(), std::back_inserter(to.misplaced));
}

} // namespace nth::stack
