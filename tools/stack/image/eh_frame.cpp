// The entries of .eh_frame.
#include "image/eh_frame.hpp"

#include "image/cursor.hpp"
#include "image/doubles.hpp"

#include <algorithm>
#include <unordered_map>

#include <dwarf.h>

namespace nth::stack {

namespace {

constexpr std::uint64_t longest_augmentation = 64;

struct table_place {
  std::span<const std::uint8_t> bytes;
  address at = 0;
  bool exact = false; // its size is known; else it ends where an entry has length 0
};

table_place find_table(const module &m) {
  for (const section &s : m.sections)
    if (s.allocated && s.name == ".eh_frame") {
      const auto bytes = m.bytes_at(s.begin);
      return {bytes.first(std::min<std::uint64_t>(s.size, bytes.size())), s.begin, true};
    }
  // .eh_frame_hdr: version, three encodings, the table's address.
  if (m.unwind_header == 0)
    return {};
  cursor c(m.bytes_at(m.unwind_header));
  const auto version = c.take<std::uint8_t>();
  const auto encoding = c.take<std::uint8_t>();
  c.skip(2);
  const address at = take_encoded(&m, c, encoding, m.unwind_header + c.at(), 0);
  if (c.failed() || version != 1 || at == 0)
    return {};
  return {m.bytes_at(at), at, false};
}

class table_reader {
public:
  table_reader(const module &m, const table_place &where) : module_(m), where_(where) {}

  eh_frame result;

  void read() {
    cursor c(where_.bytes);
    while (!c.at_end()) {
      const std::uint64_t at = c.at();
      std::uint64_t length = c.take<std::uint32_t>();
      if (length == 0xffffffff)
        length = c.take<std::uint64_t>();
      if (length == 0 && !where_.exact)
        return;
      const std::uint64_t body_at = c.at();
      const auto body = c.piece(length);
      if (c.failed())
        break;
      if (length != 0)
        read_entry(at, body_at, body);
    }
    result.cut = c.failed();
  }

private:
  // Both kinds begin with the distance back to the CIE that they rest on; 0 is none: it is one.
  void read_entry(std::uint64_t at, std::uint64_t body_at, std::span<const std::uint8_t> body) {
    cursor c(body);
    const auto back = c.take<std::uint32_t>();
    if (back == 0) {
      known_.emplace(at, static_cast<std::uint32_t>(result.cies.size()));
      result.cies.push_back(read_cie(body_at, body));
      if (!result.cies.back().usable)
        ++result.damaged;
      return;
    }
    const auto found = back <= body_at ? known_.find(body_at - back) : known_.end();
    if (found == known_.end()) {
      ++result.damaged;
      return;
    }
    read_fde(found->second, body_at, body);
  }

  [[nodiscard]] cie read_cie(std::uint64_t body_at, std::span<const std::uint8_t> body) const {
    cie result_cie;
    cursor c(body, 4);
    const auto version = c.take<std::uint8_t>();
    const std::string_view augmentation = c.text();
    if (augmentation.size() > longest_augmentation || (version != 1 && version != 3))
      return result_cie;
    if (augmentation == "eh") // gcc 2: a pointer that nobody reads any more
      c.skip(8);
    else if (!augmentation.empty() && augmentation.front() != 'z')
      return result_cie;
    result_cie.code_unit = c.unsigned_leb128();
    result_cie.data_unit = c.signed_leb128();
    if (version == 1)
      c.skip(1);
    else
      c.unsigned_leb128();
    if (augmentation.starts_with('z')) {
      result_cie.has_augmentation_size = true;
      const std::uint64_t size = c.unsigned_leb128();
      const std::uint64_t data_at = c.at();
      read_augmentation(augmentation.substr(1), c.piece(size), where_.at + body_at + data_at, result_cie);
    }
    const std::uint64_t rest_at = c.at();
    if (c.failed())
      return result_cie;
    result_cie.usable = true;
    result_cie.initial = initial_rule(result_cie, {body.subspan(rest_at), where_.at + body_at + rest_at});
    return result_cie;
  }

  // A letter that is not known hides what comes after it; the size before tells where all ends.
  void read_augmentation(std::string_view letters, std::span<const std::uint8_t> data, address at,
                         cie &into) const {
    cursor c(data);
    for (const char letter : letters) {
      if (letter == 'R') {
        into.pointer_encoding = c.take<std::uint8_t>();
      } else if (letter == 'L') {
        into.lsda_encoding = c.take<std::uint8_t>();
      } else if (letter == 'P') {
        const auto encoding = c.take<std::uint8_t>();
        const address routine = take_encoded(&module_, c, encoding, at + c.at(), 0);
        if ((encoding & DW_EH_PE_indirect) == 0)
          into.personality = routine;
      } else if (letter == 'S') {
        into.signal_frame = true;
      } else {
        return;
      }
    }
  }

  void read_fde(std::uint32_t common, std::uint64_t body_at, std::span<const std::uint8_t> body) {
    const cie &base = result.cies[common];
    const address at = where_.at + body_at;
    cursor c(body, 4);
    fde f;
    f.common = common;
    f.begin = take_encoded(&module_, c, base.pointer_encoding, at + c.at(), 0);
    // The size is as wide as the begin, but relative to nothing.
    f.end = f.begin + take_encoded(&module_, c, base.pointer_encoding & 0x0fu, 0, 0);
    if (base.has_augmentation_size) {
      const std::uint64_t size = c.unsigned_leb128();
      const std::uint64_t data_at = c.at();
      cursor data(c.piece(size));
      f.lsda = take_encoded(&module_, data, base.lsda_encoding, at + data_at, f.begin);
    }
    const std::uint64_t rest_at = c.at();
    if (!base.usable || c.failed()) {
      ++result.damaged;
      return;
    }
    if (f.begin == 0 || f.end <= f.begin) // of code that the linker has dropped
      return;
    if (!module_.is_code(f.begin) || !module_.is_code(f.end - 1)) {
      ++result.damaged;
      return;
    }
    f.instructions = {body.subspan(rest_at), at + rest_at};
    result.fdes.push_back(f);
  }

  const module &module_;
  table_place where_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_; // CIEs by offset
};

} // namespace

eh_frame read_eh_frame(const module &m) {
  table_reader reader(m, find_table(m));
  reader.read();
  return std::move(reader.result);
}

std::vector<address> read_landing_pads(const module &m, address lsda, address function_begin,
                                       std::uint64_t &budget) {
  std::vector<address> pads;
  if (lsda == 0)
    return pads;
  cursor c(m.bytes_at(lsda));
  address base = function_begin;
  if (const auto encoding = c.take<std::uint8_t>(); encoding != DW_EH_PE_omit)
    base = take_encoded(&m, c, encoding, lsda + c.at(), function_begin);
  if (c.take<std::uint8_t>() != DW_EH_PE_omit) // types to catch
    c.unsigned_leb128();
  const auto encoding = c.take<std::uint8_t>() & 0x0fu; // offsets, relative to nothing
  cursor sites(c.piece(c.unsigned_leb128()));
  while (!sites.at_end() && budget != 0) {
    --budget;
    const auto number = [&] { return take_encoded(&m, sites, static_cast<std::uint8_t>(encoding), 0, 0); };
    number(); // begin of the calls
    number(); // their size
    const address pad = number();
    sites.unsigned_leb128(); // what is done there
    if (!sites.failed() && pad != 0 && m.is_code(base + pad))
      pads.push_back(base + pad);
  }
  std::ranges::sort(pads);
  drop_doubles(pads);
  return pads;
}

} // namespace nth::stack
