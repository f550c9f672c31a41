#include "memory/part.hpp"

#include "base/error.hpp"
#include "os/advice.hpp"
#include "os/os.hpp"

namespace nth::detail {

namespace {

constexpr std::size_t first_commit = std::size_t{64} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20;
// The first pages of a dense part stay small, so that a small program stays small.
constexpr std::size_t small_prefix = huge_page;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

} // namespace

void part::place(std::uintptr_t begin, std::size_t bytes, std::size_t size, std::uintptr_t map_at, bool dense,
                 bool code) noexcept {
  first = begin;
  size_bytes = bytes;
  object = size;
  map = reinterpret_cast<marks *>(map_at);
  dense_pages = dense;
  holds_code = code;
}

// The map grows with what is committed, so that to give back never needs memory.
bool part::commit_map(std::size_t bytes) noexcept {
  if (object == 0)
    return true;
  const std::size_t words = round_up(bytes / object / 64 + 1, os::page_size() / sizeof(marks));
  if (words <= map_words)
    return true;
  if (!os::commit(map + map_words, (words - map_words) * sizeof(marks)))
    return false;
  map_words = words;
  return true;
}

bool part::commit_to(std::size_t bytes) noexcept {
  // Doubling steps: tens of mappings, whatever the number of objects. Where a limit on memory refuses a
  // large step, the smallest one that will do may still be granted.
  std::size_t target = committed_bytes == 0 ? first_commit : committed_bytes * 2;
  if (target < bytes)
    target = round_up(bytes, huge_page);
  if (target > size_bytes)
    target = size_bytes;
  for (;;) {
    auto *start = reinterpret_cast<void *>(first + committed_bytes);
    if (commit_map(target) && os::commit(start, target - committed_bytes, holds_code)) {
      if (dense_pages && target > small_prefix) {
        const std::size_t from = committed_bytes > small_prefix ? committed_bytes : small_prefix;
        os::advise_huge(reinterpret_cast<void *>(first + from), target - from);
      }
      committed_bytes = target;
      return true;
    }
    const std::size_t smallest = round_up(bytes, os::page_size());
    if (target <= smallest)
      return false;
    const std::size_t half = committed_bytes + round_up((target - committed_bytes) / 2, os::page_size());
    target = half > smallest ? half : smallest;
  }
}

void *part::carve(std::size_t size, std::size_t &count, content &holds) noexcept {
  lock_scope scope(lock);
  if (released_count != 0)
    return carve_released(count, holds);
  holds = content::fresh;
  const std::size_t room = (size_bytes - carved_bytes) / size;
  if (room == 0)
    return nullptr;
  if (count > room)
    count = room;
  // Ask for all, then for one: near a limit on memory the last objects come singly.
  if (carved_bytes + count * size > committed_bytes && !commit_to(carved_bytes + count * size)) {
    count = 1;
    if (carved_bytes + size > committed_bytes && !commit_to(carved_bytes + size))
      return nullptr;
  }
  auto *result = reinterpret_cast<void *>(first + carved_bytes);
  carved_bytes += count * size;
  return result;
}

// The objects that share pages with object i: their bits in its word, and where those pages lie.
std::uint64_t part::page_mates(std::size_t i, std::uintptr_t &begin, std::size_t &bytes) const noexcept {
  const std::size_t page = os::page_size();
  std::size_t mates = 1;
  if (object % page != 0)
    mates = page % object == 0 ? page / object : 64;
  const std::size_t from = i % 64 / mates * mates;
  begin = first + (i / 64 * 64 + from) * object;
  bytes = mates * object;
  return (mates == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << mates) - 1) << from;
}

// A run of objects that were given back, the lowest ones: pages that are in use anyway come first. All of
// it holds the same.
void *part::carve_released(std::size_t &count, content &holds) noexcept {
  while (map[lowest_word].released == 0)
    ++lowest_word;
  marks &m = map[lowest_word];
  const auto bit = static_cast<std::size_t>(__builtin_ctzll(m.released));
  const bool lost = (m.lost >> bit & 1) != 0;
  const std::uint64_t alike = lost ? m.lost : m.released & ~m.lost;
  std::uint64_t run = 0;
  std::size_t n = 0;
  for (std::size_t at = bit; at < 64 && n < count && (alike >> at & 1) != 0; ++at, ++n)
    run |= std::uint64_t{1} << at;
  m.released &= ~run;
  m.lost &= ~run;
  released_count -= n;
  count = n;
  holds = lost ? content::cleared : content::kept;
  return reinterpret_cast<void *>(first + (lowest_word * 64 + bit) * object);
}

void release_run::give(part &to, void *what) noexcept {
  if (&to != from) {
    end();
    from = &to;
    from->lock.lock();
  }
  const std::size_t object = to.object;
  const std::size_t i = (reinterpret_cast<std::uintptr_t>(what) - to.first) / object;
  const std::uint64_t one = std::uint64_t{1} << i % 64;
  part::marks &m = to.map[i / 64];
  NTH_ASSERT(i < to.carved_bytes / object && (m.released & one) == 0);
  m.released |= one;
  ++to.released_count;
  if (i / 64 < to.lowest_word)
    to.lowest_word = i / 64;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  const std::uint64_t mates = to.page_mates(i, begin, bytes);
  // Of pages that reach past what is carved some objects are missing: they stay.
  if ((m.released & mates) != mates)
    return;
  m.lost |= mates;
  if (look != nullptr)
    look(to, begin, bytes);
  if (untouched == 0 && begin == pages_end) {
    pages_end += bytes;
  } else if (untouched == 0 && begin + bytes == pages) {
    pages = begin;
  } else {
    discard();
    pages = begin + untouched;
    pages_end = begin + bytes;
  }
}

void release_run::discard() noexcept {
  if (pages != pages_end)
    os::discard(reinterpret_cast<void *>(pages), pages_end - pages);
  pages = pages_end = 0;
}

void release_run::end() noexcept {
  if (from == nullptr)
    return;
  discard(); // before another one may carve them
  from->lock.unlock();
  from = nullptr;
}

bool part::full(std::size_t size) noexcept {
  lock_scope scope(lock);
  return released_count == 0 && size_bytes - carved_bytes < size;
}

std::size_t part::carved() noexcept {
  lock_scope scope(lock);
  return carved_bytes - released_count * object;
}

std::size_t part::prefix() noexcept {
  lock_scope scope(lock);
  return carved_bytes;
}

std::size_t part::committed() noexcept {
  lock_scope scope(lock);
  return committed_bytes;
}

} // namespace nth::detail
