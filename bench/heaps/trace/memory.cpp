#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <stdexcept>

#include <fmt/core.h>

namespace trace {
namespace {

constexpr std::uint64_t nothing = ~std::uint64_t{0}; // no block has this number: blocks hold more than a byte

[[noreturn]] void wrong(const std::string &text, const std::string &why) {
  throw std::invalid_argument(fmt::format("'{}': {}", text, why));
}

std::vector<std::string> fields_of(const std::string &text) {
  std::vector<std::string> fields(1);
  for (const char c : text)
    if (c == ':')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

std::uint64_t number(const std::string &text, const std::string &word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string unit(end, word.data() + word.size());
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : 0;
  if (error != std::errc{} || (shift == 0 && !unit.empty()) || value == 0 || value >> 40 != 0)
    wrong(text, fmt::format("'{}' is no number from 1 on, with K or M behind it or nothing", word));
  return value << shift;
}

geometry read(const std::string &text, const std::string &form, bool size_in_bytes) {
  std::vector<std::string> fields = fields_of(text);
  geometry g;
  if (size_in_bytes && fields.size() == 5 && fields.back() == "no-write-allocate") {
    g.store_allocates = false;
    fields.pop_back();
  }
  if (fields.size() != 4 || fields[0].empty())
    wrong(text, "is not " + form);
  g.name = fields[0];
  g.block_bytes = number(text, fields[3]);
  g.blocks = number(text, fields[1]);
  if (size_in_bytes) {
    if (g.blocks % g.block_bytes != 0)
      wrong(text, "the size is no multiple of the line");
    g.blocks /= g.block_bytes;
  }
  g.ways = fields[2] == "full" ? g.blocks : number(text, fields[2]);
  return g;
}

} // namespace

geometry cache_geometry(const std::string &text) {
  return read(text, "name:SIZE:WAYS:LINE[:no-write-allocate]", true);
}

geometry tlb_geometry(const std::string &text) { return read(text, "name:ENTRIES:WAYS:PAGE", false); }

memory::memory(geometry g) : shape(std::move(g)) {
  if (!std::has_single_bit(shape.block_bytes) || shape.block_bytes < 2)
    wrong(shape.name, "a line or page is a power of two, of 2 bytes and more");
  if (shape.ways == 0 || shape.blocks % shape.ways != 0 || !std::has_single_bit(shape.blocks / shape.ways))
    wrong(shape.name,
          fmt::format("{} blocks in sets of {} are not a power of two of sets", shape.blocks, shape.ways));
  block_log2 = static_cast<unsigned>(std::countr_zero(shape.block_bytes));
  set_mask = shape.blocks / shape.ways - 1;
  used.assign(shape.blocks, nothing);
}

bool memory::search(std::uint64_t *set, std::uint64_t block, bool allocate) {
  std::uint64_t *const end = set + shape.ways;
  std::uint64_t *const place = std::find(set + 1, end, block);
  if (place == end && !allocate)
    return false;
  // What was used longest ago stands last, and falls out.
  std::copy_backward(set, place == end ? end - 1 : place, place == end ? end : place + 1);
  set[0] = block;
  return place != end;
}

} // namespace trace
