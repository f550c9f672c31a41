#include "cluster/agree.hpp"

#include "base/error.hpp"
#include "base/options.hpp"
#include "cluster/program.hpp"
#include "cluster/transport.hpp"
#include "iso/distribution.hpp"
#include "os/os.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace nth::detail::cluster {

namespace {

// Of options that may differ, each rank has its own: numbers of workers, bounds of free lists, and the like.
constexpr const char *common_options[] = {"NTH_STACK_SIZE", "NTH_STACK_POLICY", "NTH_GUARD",
                                          "NTH_AREA_SIZE",  "NTH_ISO_SIZE",     "NTH_SLOT_SIZE",
                                          "NTH_ISO_CHECK"};

void add_options(card &c, const nth_options &options) noexcept {
  int rows = 0;
  const option_row *table = option_table(rows);
  for (const char *name : common_options) {
    for (int i = 0; i < rows; ++i) {
      char value[option_text_size];
      if (std::strcmp(table[i].name, name) == 0)
        c.add(name, option_value(table[i], options.*table[i].field, value));
    }
  }
  const char *spread = options.slot_distribution;
  c.add("NTH_SLOT_DISTRIBUTION", spread == nullptr || spread[0] == '\0' ? "partitioned" : spread);
}

// Where areas may lie: clear of programs at fixed addresses and their heaps, of libraries and stacks, and of the shadow
// memory of AddressSanitizer.
constexpr std::uintptr_t lowest_place = 0x1100'0000'0000;
constexpr std::uintptr_t highest_place = 0x5000'0000'0000;
constexpr std::uintptr_t step = 0x0100'0000'0000;
constexpr std::size_t alignment = std::size_t{2} << 20;

// True: all ranks have it.
bool reserve_everywhere(std::uintptr_t at, std::size_t bytes) noexcept {
  void *place =
      os::address_is_ours_to_choose() ? os::reserve(reinterpret_cast<void *>(at), bytes, alignment) : nullptr;
  if (transport::minimum(place != nullptr) != 0)
    return true;
  if (place != nullptr)
    os::release(place, bytes);
  return false;
}

// The user's function must answer alike on all ranks: some of its answers, as one number.
std::uint64_t sample_answers(const nth_options &options) noexcept {
  constexpr long samples = 4096;
  const long slots = options.iso_size / options.slot_size;
  const long stride = slots > samples ? slots / samples : 1;
  std::uint64_t sum = 0;
  for (long s = 0; s < slots; s += stride)
    sum = sum * 0x100'0000'01b3 +
          static_cast<std::uint64_t>(iso::user_distribution(s, slots, transport::ranks()));
  return sum;
}

} // namespace

void card::add(const char *name, const char *value) noexcept {
  line &l = lines[count++];
  std::snprintf(l.name, sizeof l.name, "%s", name);
  std::snprintf(l.value, sizeof l.value, "%s", value);
}

void fill_card(card &c, const nth_options &options) noexcept {
  c.count = 0;
  gethostname(c.host, sizeof c.host - 1);
  char text[sizeof c.lines[0].value];
  describe_program(text, sizeof text);
  c.add("the program (its build id)", text);
  std::snprintf(text, sizeof text, "%016lx", layout_hash());
  c.add("the layout of nth's structures", text);
  std::snprintf(text, sizeof text, "%zu", os::page_size());
  c.add("the size of a page", text);
  add_options(c, options);
  iso::distribution spread;
  if (spread.parse(options.slot_distribution) && spread.kind == iso::spread::user && options.slot_size > 0) {
    std::snprintf(text, sizeof text, "%016lx", sample_answers(options));
    c.add("what the distribution of slots answers", text);
  }
  if (c.trouble[0] == '\0')
    static_cast<void>(is_fixed_program(c.trouble, sizeof c.trouble));
}

bool judge(const card *all, int ranks, char *text, std::size_t size) noexcept {
  for (int r = 0; r < ranks; ++r) {
    if (all[r].trouble[0] != '\0') {
      std::snprintf(text, size, "rank %d (%s) cannot take part: %s", r, all[r].host, all[r].trouble);
      return false;
    }
  }
  const card &first = all[0];
  for (int r = 1; r < ranks; ++r) {
    for (int i = 0; i < first.count; ++i) {
      const card::line &here = first.lines[i];
      const card::line &there = all[r].lines[i];
      if (std::strcmp(here.value, there.value) == 0)
        continue;
      std::snprintf(text, size, "rank %d (%s) differs from rank 0 (%s): %s is %s there, and %s here", r,
                    all[r].host, first.host, here.name, there.value, here.value);
      return false;
    }
  }
  return true;
}

nth_status agree(const card &mine) noexcept {
  struct verdict {
    bool good;
    char text[440];
  } v{true, {}};
  const bool first = transport::rank() == 0;
  card *all = nullptr;
  if (first) {
    all = static_cast<card *>(std::malloc(sizeof(card) * static_cast<std::size_t>(transport::ranks())));
    if (all == nullptr)
      end_program("no memory for what the ranks say of themselves; raise the limit on it");
  }
  transport::gather(&mine, sizeof mine, all);
  if (first)
    v.good = judge(all, transport::ranks(), v.text, sizeof v.text);
  std::free(all);
  transport::broadcast(&v, sizeof v);
  return v.good ? NTH_OK : fail(NTH_EINVAL, "nth_cluster_init: %s", v.text);
}

bool agree_on_place(std::uintptr_t preferred, std::size_t wanted, std::size_t least, std::uintptr_t &base,
                    std::size_t &bytes) noexcept {
  const std::size_t largest = os::largest_reservation();
  bytes = static_cast<std::size_t>(
      transport::minimum(static_cast<std::int64_t>(wanted < largest ? wanted : largest)));
  for (; bytes >= least; bytes /= 2) {
    base = preferred;
    if (reserve_everywhere(base, bytes))
      return true;
    for (base = lowest_place; base + bytes <= highest_place; base += step) {
      if (reserve_everywhere(base, bytes))
        return true;
    }
  }
  return false;
}

} // namespace nth::detail::cluster
