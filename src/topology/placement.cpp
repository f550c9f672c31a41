#include "topology/placement.hpp"

#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nth::detail::topology {

namespace {

struct placement_word {
  const char *text;
  placement_kind kind;
};
constexpr placement_word words[] = {{"cores", placement_kind::cores},
                                    {"compact", placement_kind::compact},
                                    {"scatter", placement_kind::scatter}};

// The order of hardware threads, by what counts most first. No two have the same core and rank.
//   cores    the first hardware thread of each core, then the second of each: workers get cores of their own
//            as long as there are any
//   compact  hwloc's order: one core after the other, one package after the other
//   scatter  packages change fastest, then the nodes of a package, then cores, then hardware threads
template <placement_kind Kind>
bool comes_before(const hardware_thread &a, const hardware_thread &b) noexcept {
  if constexpr (Kind == placement_kind::compact) {
    return a.core != b.core ? a.core < b.core : a.rank < b.rank;
  } else {
    if (a.rank != b.rank)
      return a.rank < b.rank;
    if constexpr (Kind == placement_kind::scatter) {
      if (a.core_in_domain != b.core_in_domain)
        return a.core_in_domain < b.core_in_domain;
      if (a.domain != b.domain)
        return a.domain < b.domain;
    }
    return a.core < b.core;
  }
}

template <placement_kind Kind>
void sort_threads(machine_tables &tables) noexcept {
  // Not std::sort: its instantiations would be exported, whatever the visibility of ours.
  std::qsort(tables.threads, static_cast<std::size_t>(tables.thread_count), sizeof(hardware_thread),
             [](const void *a, const void *b) noexcept {
               const auto &left = *static_cast<const hardware_thread *>(a);
               const auto &right = *static_cast<const hardware_thread *>(b);
               return comes_before<Kind>(left, right) ? -1 : comes_before<Kind>(right, left) ? 1 : 0;
             });
}

[[gnu::format(printf, 2, 3)]] bool refuse(load_report &report, const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(report.wrong, sizeof report.wrong, format, arguments);
  va_end(arguments);
  return false;
}

// "CPU 0", "CPUs 0 to 7", "CPUs 0,2-5": the members of a set, for a message.
struct set_text {
  char text[120];
  set_text(hwloc_const_bitmap_t set, const char *one) noexcept {
    const int first = hwloc_bitmap_first(set);
    const int last = hwloc_bitmap_last(set);
    char list[80];
    if (first == last)
      std::snprintf(text, sizeof text, "%s %d", one, first);
    else if (last - first + 1 == hwloc_bitmap_weight(set))
      std::snprintf(text, sizeof text, "%ss %d to %d", one, first, last);
    else if (hwloc_bitmap_list_snprintf(list, sizeof list, set) < static_cast<int>(sizeof list))
      std::snprintf(text, sizeof text, "%ss %s", one, list);
    else
      std::snprintf(text, sizeof text, "%d %ss between %d and %d", hwloc_bitmap_weight(set), one, first,
                    last);
  }
};

// ---- Lists -------------------------------------------------------------------------------------------------

// A part of the text, not ended by a zero: one entry of the list.
struct entry_text {
  const char *begin;
  const char *end;
  int shown() const noexcept { return end - begin < 40 ? static_cast<int>(end - begin) : 40; } // for %.*s
  bool is(const char *word) const noexcept {
    const std::size_t length = std::strlen(word);
    return static_cast<std::size_t>(end - begin) == length && std::memcmp(begin, word, length) == 0;
  }
};

// Digits at the beginning of `text`, which it steps over; -1: there are none. What is too large for any
// machine is INT_MAX.
int take_number(entry_text &text) noexcept {
  if (text.begin == text.end || *text.begin < '0' || *text.begin > '9')
    return -1;
  int value = 0;
  for (; text.begin < text.end && *text.begin >= '0' && *text.begin <= '9'; ++text.begin)
    value = value > (INT_MAX - 9) / 10 ? INT_MAX : value * 10 + (*text.begin - '0');
  return value;
}

bool take(entry_text &text, const char *prefix) noexcept {
  const std::size_t length = std::strlen(prefix);
  if (static_cast<std::size_t>(text.end - text.begin) < length ||
      std::memcmp(text.begin, prefix, length) != 0)
    return false;
  text.begin += length;
  return true;
}

// Reads entries one by one into the places.
class list_reader {
public:
  list_reader(const machine_reading &from, machine_tables &to, load_report &messages) noexcept
      : machine(from), tables(to), report(messages) {}

  bool read(const char *list) noexcept {
    for (int number = 1;; ++number) {
      const char *end = std::strchr(list, ',');
      if (end == nullptr)
        end = list + std::strlen(list);
      if (end == list)
        return refuse(report, "entry %d of the list is empty; leave out the comma", number);
      if (!entry({list, end}))
        return false;
      if (*end == '\0')
        return true;
      list = end + 1;
    }
  }

private:
  bool entry(const entry_text whole) noexcept {
    for (const placement_word &word : words) {
      if (whole.is(word.text))
        return refuse(report, "\"%s\" stands alone: it is no entry of a list", word.text);
    }
    entry_text rest = whole;
    const bool is_node = take(rest, "node:");
    const int first = take_number(rest);
    int last = first;
    int stride = 1;
    if (!is_node && first >= 0 && take(rest, "-")) {
      last = take_number(rest);
      if (last >= 0 && take(rest, ":"))
        stride = take_number(rest);
    }
    if (first < 0 || last < 0 || stride < 0 || rest.begin != rest.end)
      return refuse(report,
                    "\"%.*s\" is none of cores, compact, scatter, a CPU (3), a range of CPUs (0-3, or 0-6:2 "
                    "for every second one), the CPUs of a NUMA node (node:1)",
                    whole.shown(), whole.begin);
    if (last < first)
      return refuse(report, "\"%.*s\" ends before it begins; write the smaller CPU first", whole.shown(),
                    whole.begin);
    if (stride == 0)
      return refuse(report, "\"%.*s\" goes on by 0; the number behind the colon is at least 1", whole.shown(),
                    whole.begin);
    if (is_node)
      return add_node(first);
    for (int cpu = first; cpu <= last; cpu += stride) {
      if (!add_cpu(cpu, whole))
        return false;
      if (stride > last - cpu) // the sum may be too large for an int
        break;
    }
    return true;
  }

  bool add_cpu(int cpu, const entry_text &whole) noexcept {
    for (int i = 0; i < tables.thread_count; ++i) {
      if (tables.threads[i].os_index == cpu) {
        add(tables.threads[i]);
        return true;
      }
    }
    if (!hwloc_bitmap_isset(machine.cpus(), static_cast<unsigned>(cpu)))
      return refuse(report, "CPU %d of \"%.*s\" does not exist; this machine has %s", cpu, whole.shown(),
                    whole.begin, set_text(machine.cpus(), "CPU").text);
    return refuse(report,
                  "CPU %d of \"%.*s\" is kept from this process by its affinity mask or its cgroup, or is "
                  "offline; it may use %s",
                  cpu, whole.shown(), whole.begin, set_text(machine.usable(), "CPU").text);
  }

  bool add_node(int os_index) noexcept {
    bool found = false;
    for (int i = 0; i < tables.thread_count; ++i) {
      if (tables.nodes[tables.threads[i].node].os_index != os_index)
        continue;
      add(tables.threads[i]);
      found = true;
    }
    if (found)
      return true;
    if (!hwloc_bitmap_isset(machine.numa_nodes(), static_cast<unsigned>(os_index)))
      return refuse(report, "NUMA node %d does not exist; this machine has %s", os_index,
                    set_text(machine.numa_nodes(), "node").text);
    return refuse(
        report,
        "NUMA node %d has no CPU that this process may use, by its affinity mask and its cgroup; it "
        "may use %s",
        os_index, set_text(machine.usable(), "CPU").text);
  }

  void add(const hardware_thread &thread) noexcept {
    if (tables.place_count == tables.place_room)
      return; // more entries than there can be workers
    bool seen = false;
    for (int i = 0; i < tables.place_count && !seen; ++i)
      seen = tables.places[i].os_index == thread.os_index;
    tables.workers += seen ? 0 : 1;
    tables.places[tables.place_count++] = {thread.os_index, thread.node};
  }

  const machine_reading &machine;
  machine_tables &tables;
  load_report &report;
};

} // namespace

placement_kind kind_of(const char *placement) noexcept {
  if (placement == nullptr || *placement == '\0')
    return placement_kind::cores;
  for (const placement_word &word : words) {
    if (std::strcmp(placement, word.text) == 0)
      return word.kind;
  }
  return placement_kind::list;
}

void place_by_word(placement_kind kind, machine_tables &tables) noexcept {
  if (kind == placement_kind::compact)
    sort_threads<placement_kind::compact>(tables);
  else if (kind == placement_kind::scatter)
    sort_threads<placement_kind::scatter>(tables);
  else
    sort_threads<placement_kind::cores>(tables);
  for (int i = 0; i < tables.thread_count; ++i)
    tables.places[i] = {tables.threads[i].os_index, tables.threads[i].node};
  tables.place_count = tables.thread_count;
  tables.workers = tables.cores;
}

bool place_by_list(const char *list, const machine_reading &machine, machine_tables &tables,
                   load_report &report) noexcept {
  sort_threads<placement_kind::cores>(tables); // the order of what "node:1" stands for
  return list_reader(machine, tables, report).read(list);
}

} // namespace nth::detail::topology
