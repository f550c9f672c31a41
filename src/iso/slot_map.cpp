#include "iso/slot_map.hpp"

#include "base/error.hpp"
#include "os/advice.hpp"
#include "os/os.hpp"

#include <bit>

namespace nth::detail::iso {

namespace {

constexpr std::uint64_t ones = ~std::uint64_t{0};
constexpr std::size_t line = 64;

constexpr std::uint64_t from_bit(std::size_t bit) noexcept { return ones << bit % 64; }
constexpr std::uint64_t below_bit(std::size_t bit) noexcept { return ~from_bit(bit); }
constexpr std::uint64_t one_bit(std::size_t bit) noexcept { return std::uint64_t{1} << bit % 64; }

constexpr std::size_t bytes_of(std::size_t words) noexcept {
  return (words * sizeof(std::uint64_t) + line - 1) / line * line;
}

// The bits of word `w` that stand for slots of r.
constexpr std::uint64_t mask_of(std::size_t w, slot_range r) noexcept {
  const auto first = static_cast<std::size_t>(r.first);
  const auto last = static_cast<std::size_t>(r.end() - 1);
  std::uint64_t mask = ones;
  if (w == first / 64)
    mask &= from_bit(first);
  if (w == last / 64)
    mask &= ones >> (63 - last % 64);
  return mask;
}

// Bit i: bits i to i + count - 1 of x are all 1; count is 1 to 64.
constexpr std::uint64_t series_in(std::uint64_t x, slot count) noexcept {
  for (slot have = 1; have < count;) {
    const slot step = have < count - have ? have : count - have;
    x &= x >> step;
    have += step;
  }
  return x;
}

} // namespace

bool slot_map::open(slot wanted, const pattern &initial) noexcept {
  if (wanted <= 0 || wanted > most_slots)
    return false;
  std::size_t sizes[most_levels];
  sizes[0] = (static_cast<std::size_t>(wanted) + 63) / 64;
  std::size_t bytes = bytes_of(sizes[0]);
  int highest = 0;
  do {
    sizes[highest + 1] = (sizes[highest] + 63) / 64;
    bytes += bytes_of(sizes[++highest]);
  } while (sizes[highest] > 1);
  const std::size_t known_bytes = initial.word == nullptr ? 0 : bytes_of(sizes[1]);
  bytes = (bytes + known_bytes + os::page_size() - 1) & ~(os::page_size() - 1);

  // Reserved, then made writable: memory that is not used is not accounted for either.
  void *const place = os::reserve(nullptr, bytes, os::page_size());
  if (place == nullptr)
    return false;
  if (!os::commit(place, bytes)) {
    os::release(place, bytes);
    return false;
  }
  os::advise_small(place, bytes);

  slots = wanted;
  words = sizes[0];
  untouched = initial;
  top = highest;
  memory = place;
  memory_bytes = bytes;
  char *at = static_cast<char *>(place);
  for (int k = 0; k <= top; ++k) {
    level[k] = reinterpret_cast<std::uint64_t *>(at);
    at += bytes_of(sizes[k]);
  }
  known = initial.word == nullptr ? nullptr : reinterpret_cast<std::uint64_t *>(at);

  // Nothing outside the hull: only in words that have a bit for some of it, for one above says so of all others.
  const slot_range hull = initial.word == nullptr ? slot_range{0, 0} : initial.hull;
  if (hull.count == 0) {
    level[top][0] = ones;
    return true;
  }
  auto first = static_cast<std::size_t>(hull.first);
  auto last = static_cast<std::size_t>(hull.end() - 1);
  for (int k = 1; k <= top; ++k) {
    first /= 64; // words of level k - 1
    last /= 64;
    level[k][first / 64] |= below_bit(first);
    level[k][last / 64] |= last % 64 == 63 ? 0 : from_bit(last + 1);
  }
  return true;
}

void slot_map::close() noexcept {
  if (memory != nullptr)
    os::release(memory, memory_bytes);
  *this = slot_map{};
}

// ---- Words -----------------------------------------------------------------------------------------

std::uint64_t slot_map::peek(std::size_t w) const noexcept {
  if (known == nullptr || (known[w / 64] & one_bit(w)) != 0)
    return level[0][w];
  const std::uint64_t bits = untouched.word(static_cast<slot>(w), untouched.context);
  return w + 1 == words ? bits & mask_of(w, {0, slots}) : bits;
}

void slot_map::write(std::size_t w, std::uint64_t bits) noexcept {
  level[0][w] = bits;
  if (known != nullptr)
    known[w / 64] |= one_bit(w);
}

// From the top down: where a bit said "nothing", the bits below it need not, and are made to.
void slot_map::mark_some(std::size_t w) noexcept {
  for (int k = top; k > 0; --k) {
    const std::size_t bit = w >> 6 * (k - 1);
    std::uint64_t &here = level[k][bit / 64];
    if ((here & one_bit(bit)) == 0)
      continue;
    here &= ~one_bit(bit);
    if (k > 1)
      level[k - 1][bit] = ones;
  }
}

void slot_map::mark_none(std::size_t w) noexcept {
  for (int k = 1; k <= top; ++k, w /= 64) {
    level[k][w / 64] |= one_bit(w);
    if (level[k][w / 64] != ones)
      return;
  }
}

// The first word at or after `from` of which no level says that nothing is there; `words`: none.
std::size_t slot_map::maybe(std::size_t from) const noexcept {
  if (from >= words)
    return words;
  int k = top;
  std::size_t bit = from >> 6 * (k - 1);
  for (;;) {
    const std::uint64_t left = ~level[k][bit / 64] & from_bit(bit);
    if (left != 0) {
      bit = bit / 64 * 64 + static_cast<std::size_t>(std::countr_zero(left));
      if (k == 1)
        return bit;
      --k;
      const std::size_t least = from >> 6 * (k - 1);
      bit = bit * 64 < least ? least : bit * 64;
      continue;
    }
    // On behind this word; where that begins another word above, it is that word's parent who knows.
    do {
      if (k == top)
        return words;
      bit = bit / 64 + 1;
      ++k;
    } while (bit % 64 == 0);
  }
}

// The same for the word behind one that maybe() has answered, mostly by one look.
std::size_t slot_map::maybe_after(std::size_t visited) const noexcept {
  const std::size_t w = visited + 1;
  if (w % 64 != 0) {
    const std::uint64_t left = ~level[1][w / 64] & from_bit(w);
    if (left != 0)
      return w / 64 * 64 + static_cast<std::size_t>(std::countr_zero(left));
  }
  return maybe(w);
}

// ---- Ranges ----------------------------------------------------------------------------------------

void slot_map::set(slot_range r) noexcept {
  NTH_ASSERT(r.first >= 0 && r.count >= 0 && r.end() <= slots);
  if (r.count == 0)
    return;
  for (std::size_t w = word_of(r.first), last = word_of(r.end() - 1); w <= last; ++w) {
    const std::uint64_t old = peek(w);
    const std::uint64_t bits = old | mask_of(w, r);
    if (bits == old)
      continue; // never written, it stays so
    write(w, bits);
    mark_some(w);
  }
}

void slot_map::clear(slot_range r) noexcept {
  NTH_ASSERT(r.first >= 0 && r.count >= 0 && r.end() <= slots);
  if (r.count == 0)
    return;
  for (std::size_t w = maybe(word_of(r.first)), last = word_of(r.end() - 1); w <= last && w < words;
       w = maybe_after(w)) {
    const std::uint64_t old = peek(w);
    const std::uint64_t bits = old & ~mask_of(w, r);
    if (bits != old)
      write(w, bits);
    if (bits == 0)
      mark_none(w);
  }
}

// ---- Searches --------------------------------------------------------------------------------------

slot slot_map::next_before(slot from, slot limit) noexcept {
  if (from < 0)
    from = 0;
  if (from >= limit)
    return no_slot;
  const std::size_t begin = word_of(from);
  const std::size_t last = word_of(limit - 1);
  for (std::size_t w = maybe(begin); w <= last && w < words; w = maybe_after(w)) {
    const std::uint64_t bits = peek(w);
    if (bits == 0)
      mark_none(w);
    const std::uint64_t left = w == begin ? bits & from_bit(static_cast<std::size_t>(from)) : bits;
    if (left != 0) {
      const slot found = static_cast<slot>(w) * word_bits + std::countr_zero(left);
      return found < limit ? found : no_slot;
    }
  }
  return no_slot;
}

slot slot_map::next_absent(slot from, slot limit) const noexcept {
  if (from < 0)
    from = 0;
  if (limit > slots)
    limit = slots;
  if (from >= limit)
    return limit;
  std::size_t w = word_of(from);
  const std::size_t last = word_of(limit - 1);
  std::uint64_t absent = ~peek(w) & from_bit(static_cast<std::size_t>(from));
  while (absent == 0) {
    ++w;
    while (untouched.full != nullptr && w % 64 == 0 && w + 64 <= words && w <= last && known[w / 64] == 0 &&
           untouched.full(static_cast<slot>(w), untouched.context))
      w += 64;
    if (w > last)
      return limit;
    absent = ~peek(w);
  }
  const slot found = static_cast<slot>(w) * word_bits + std::countr_zero(absent);
  return found < limit ? found : limit;
}

slot slot_map::run_before(slot s, slot most) const noexcept {
  slot run = 0;
  while (run < s && run < most) {
    const slot last = s - run - 1;
    // Its bit is the highest.
    const std::uint64_t bits = peek(word_of(last)) << (63 - last % word_bits);
    const slot here = std::countl_one(bits);
    run += here;
    if (here <= last % word_bits)
      break;
  }
  return run;
}

slot_range slot_map::next_run(slot from, slot limit) noexcept {
  if (limit > slots)
    limit = slots;
  const slot first = next_before(from, limit);
  if (first == no_slot)
    return {};
  return {first, next_absent(first, limit) - first};
}

// Word by word: the series that ends the words before, with the first bits of this one, lies lowest; then those within
// the word.
slot slot_map::find(slot count, slot from) noexcept {
  if (count == 1)
    return next(from);
  if (from < 0)
    from = 0;
  if (count <= 0 || from > slots - count)
    return no_slot;
  slot run = 0; // slots in the set that end right before word w
  std::size_t before = words;
  const std::size_t begin = word_of(from);
  for (std::size_t w = maybe(begin); w < words; before = w, w = maybe_after(w)) {
    if (w != before + 1)
      run = 0;
    const slot first = static_cast<slot>(w) * word_bits;
    if (run >= word_bits) { // a long series: as far as it goes at once
      const slot end = next_absent(first, first - run + count);
      if (end - (first - run) >= count)
        return first - run;
      if (end == slots)
        return no_slot;
      run += end / word_bits * word_bits - first;
      w = word_of(end);
    }
    std::uint64_t bits = peek(w);
    if (bits == 0)
      mark_none(w);
    if (w == begin)
      bits &= from_bit(static_cast<std::size_t>(from));
    if (bits == ones) {
      run += word_bits;
      if (run >= count)
        return first + word_bits - run;
      continue;
    }
    if (run + std::countr_one(bits) >= count)
      return static_cast<slot>(w) * word_bits - run;
    if (count <= word_bits) {
      const std::uint64_t found = series_in(bits, count);
      if (found != 0)
        return static_cast<slot>(w) * word_bits + std::countr_zero(found);
    }
    run = std::countl_one(bits);
  }
  return no_slot;
}

slot slot_map::count(slot_range r) const noexcept {
  if (r.count <= 0)
    return 0;
  slot sum = 0;
  for (std::size_t w = maybe(word_of(r.first)), last = word_of(r.end() - 1); w <= last && w < words;
       w = maybe_after(w))
    sum += std::popcount(peek(w) & mask_of(w, r));
  return sum;
}

} // namespace nth::detail::iso
