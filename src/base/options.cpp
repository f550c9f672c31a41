#include "base/options.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nth::detail {

namespace {

constexpr long K = 1L << 10;
constexpr long G = 1L << 30;
constexpr long T = 1L << 40;
constexpr long most_idle = 1L << 30; // objects: absurdly many, and no product of them overflows

constexpr const char *policy_words[] = {"dsr", "lsa", "dos"};
static_assert(NTH_POLICY_DSR == 0 && NTH_POLICY_LSA == 1 && NTH_POLICY_DOS == 2);

constexpr option_row rows[] = {
    {"NTH_WORKERS", &nth_options::workers, option_kind::number, 0, 0, NTH_MAX_WORKERS,
     "kernel threads that run nano-threads; 0: one for each core that the process may use"},
    {"NTH_STACK_SIZE", &nth_options::stack_size, option_kind::size, 64 * K, 16 * K, largest_stack_size,
     "bytes of a thread's stack"},
    {"NTH_STACK_POLICY", &nth_options::stack_policy, option_kind::policy, NTH_POLICY_DSR, NTH_POLICY_DSR,
     NTH_POLICY_DOS,
     "where a thread's stack comes from: direct stack reuse, lazy stack allocation, descriptor on stack"},
    {"NTH_BIND", &nth_options::bind, option_kind::flag, 1, 0, 1, "1: each worker is pinned to a core"},
    {"NTH_BACKLOG", &nth_options::backlog, option_kind::number, 8192, 0, T,
     "waiting threads of a worker above which a creator makes way; 0: no bound"},
    {"NTH_SPIN_US", &nth_options::spin_us, option_kind::number, 50, 0, 1'000'000,
     "microseconds that an idle worker looks for work before it sleeps"},
    {"NTH_GUARD", &nth_options::guard, option_kind::flag, 1, 0, 1,
     "1: a guard page lies below each stack of 16 KiB and more"},
    {"NTH_REPORT_DEADLOCK", &nth_options::report_deadlock, option_kind::flag, 0, 0, 1,
     "1: blocked threads are reported when nothing is left to run"},
    {"NTH_AREA_SIZE", &nth_options::area_size, option_kind::size, 16 * T, G, 64 * T,
     "bytes of address space to reserve; halved until the kernel agrees, so it may be less under limits on "
     "address space, ThreadSanitizer, Valgrind and emulators"},
    {"NTH_DESCRIPTORS_LOCAL", &nth_options::descriptors_local, option_kind::number, 2048, 256, most_idle,
     "idle descriptors that a worker keeps"},
    {"NTH_DESCRIPTORS_NODE", &nth_options::descriptors_node, option_kind::number, 8192, 0, most_idle,
     "idle descriptors that a NUMA node keeps beside those of its workers"},
    {"NTH_DESCRIPTORS_GLOBAL", &nth_options::descriptors_global, option_kind::number, 65536, 0, most_idle,
     "idle descriptors that are kept beside those; more go back to the kernel"},
    {"NTH_STACKS_LOCAL", &nth_options::stacks_local, option_kind::number, 64, 2, most_idle,
     "idle stacks of a size that a worker keeps; of those below 4 KiB, as many times more as a page holds"},
    {"NTH_STACKS_NODE", &nth_options::stacks_node, option_kind::number, 1024, 0, most_idle,
     "idle stacks of a size that a NUMA node keeps beside those; below 4 KiB as many times more"},
    {"NTH_STACKS_GLOBAL", &nth_options::stacks_global, option_kind::number, 8192, 0, most_idle,
     "idle stacks of a size that are kept beside those, with their top page alone; below 4 KiB as many times "
     "more; others go back to the kernel"},
    {"NTH_STACK_STRICT", &nth_options::stack_strict, option_kind::number, 0, 0, 2,
     "in a program linked with small stacks 1 refuses threads whose root has no bound, or calls what has "
     "none; 2 "
     "also those whose bound rests on an assumption"},
    {"NTH_STACK_MOST", &nth_options::stack_most, option_kind::size, G, 1024 * K, T / 4,
     "bytes of segments that one thread may have, in a program linked with small stacks"},
    {"NTH_STATS", &nth_options::stats, option_kind::flag, 0, 0, 1,
     "1: what was allocated, and where it lies, is written to standard error as JSON when the run ends"},
    {"NTH_ISO_SIZE", &nth_options::iso_size, option_kind::size, 16 * T, 1024 * K, 64 * T,
     "bytes of address space for nth_isomalloc, of all ranks together; as NTH_AREA_SIZE it may be less"},
    {"NTH_SLOT_SIZE", &nth_options::slot_size, option_kind::size, 64 * K, 64 * K, G,
     "bytes of a slot, the unit in which ranks own these addresses"},
    {"NTH_SLOT_CACHE", &nth_options::slot_cache, option_kind::number, 1024, 0, G,
     "empty slots, of 64 KiB, that keep their memory; as many fewer as slots are larger"},
    {"NTH_SLOT_PREBUY", &nth_options::slot_prebuy, option_kind::number, 16, 0, G,
     "slots that are bought from another rank beside those that are wanted"},
    {"NTH_ISO_CHECK", &nth_options::iso_check, option_kind::flag, 0, 0, 1,
     "1: writes behind a block of nth_isomalloc are found when it is freed"},
    {"NTH_CLUSTER_THREAD", &nth_options::cluster_thread, option_kind::flag, 0, 0, 1,
     "1: messages between ranks have a kernel thread of their own"},
    {"NTH_CLUSTER_POLL_US", &nth_options::cluster_poll_us, option_kind::number, 100, 1, 1'000'000,
     "microseconds after which an idle rank looks for messages again"},
    {"NTH_PLACEMENT", nullptr, option_kind::text, 0, 0, 0,
     "which hardware thread each worker has: cores in turn, neighbours together, apart, or as listed",
     &nth_options::placement, "cores", "cores, compact, scatter, or a list"},
    {"NTH_SLOT_DISTRIBUTION", nullptr, option_kind::text, 0, 0, 0,
     "which rank owns which slot when the run begins", &nth_options::slot_distribution, "partitioned",
     "partitioned, cyclic, block-cyclic, block-cyclic:N, or user"},
};

bool is_power_of_two(long value) noexcept { return value > 0 && (value & (value - 1)) == 0; }

bool accepts(const option_row &row, long value) noexcept {
  return value >= row.lowest && value <= row.highest &&
         (row.kind != option_kind::size || is_power_of_two(value));
}

int unit_shift(char unit) noexcept {
  switch (unit) {
  case 'K':
  case 'k':
    return 10;
  case 'M':
  case 'm':
    return 20;
  case 'G':
  case 'g':
    return 30;
  case 'T':
  case 't':
    return 40;
  default:
    return 0;
  }
}

// Reads what the environment says; false: not the whole text is a value that the row accepts.
bool parse(const option_row &row, const char *text, long &value) noexcept {
  if (row.kind == option_kind::policy) {
    long word = 0;
    for (const char *name : policy_words) {
      if (std::strcmp(text, name) == 0) {
        value = word;
        return true;
      }
      ++word;
    }
    return false;
  }
  if (text[0] < '0' || text[0] > '9') // strtol would accept blanks and signs
    return false;
  char *end;
  errno = 0;
  long number = std::strtol(text, &end, 10);
  if (errno != 0)
    return false;
  if (row.kind == option_kind::size) {
    if (const int shift = unit_shift(*end)) {
      if (number > row.highest >> shift)
        return false;
      number <<= shift;
      ++end;
    }
  }
  if (*end != '\0' || !accepts(row, number))
    return false;
  value = number;
  return true;
}

// NTH_STACK_SIZE is the field stack_size.
void field_name(const option_row &row, char (&buffer)[option_text_size]) noexcept {
  std::size_t length = 0;
  for (const char *c = row.name + std::strlen("NTH_"); *c != '\0' && length + 1 < sizeof buffer; ++c)
    buffer[length++] = *c >= 'A' && *c <= 'Z' ? static_cast<char>(*c - 'A' + 'a') : *c;
  buffer[length] = '\0';
}

} // namespace

const option_row *option_table(int &count) noexcept {
  count = static_cast<int>(sizeof rows / sizeof rows[0]);
  return rows;
}

const char *option_value(const option_row &row, long value, char (&buffer)[option_text_size]) noexcept {
  if (row.kind == option_kind::text) {
    std::snprintf(buffer, sizeof buffer, "%s", row.text_standard);
    return buffer;
  }
  static constexpr char units[] = {'\0', 'K', 'M', 'G', 'T', '\0'}; // none is written as an empty string
  if (row.kind == option_kind::policy && value >= row.lowest && value <= row.highest) {
    std::snprintf(buffer, sizeof buffer, "%s", policy_words[value]);
    return buffer;
  }
  int unit = 0;
  while (row.kind == option_kind::size && unit < 4 && value != 0 && value % 1024 == 0) {
    value /= 1024;
    ++unit;
  }
  std::snprintf(buffer, sizeof buffer, "%ld%.1s", value, units + unit);
  return buffer;
}

const char *option_range(const option_row &row, char (&buffer)[option_text_size]) noexcept {
  if (row.kind == option_kind::text) {
    std::snprintf(buffer, sizeof buffer, "%s", row.text_accepted);
    return buffer;
  }
  if (row.kind == option_kind::policy) {
    std::snprintf(buffer, sizeof buffer, "%s, %s, %s", policy_words[0], policy_words[1], policy_words[2]);
    return buffer;
  }
  char low[option_text_size], high[option_text_size];
  std::snprintf(buffer, sizeof buffer, "%.30s..%.30s%s", option_value(row, row.lowest, low),
                option_value(row, row.highest, high),
                row.kind == option_kind::size ? ", a power of two" : "");
  return buffer;
}

nth_status read_options(nth_options &options) noexcept {
  nth_status status = NTH_OK;
  for (const option_row &row : rows) {
    const char *text = std::getenv(row.name);
    if (row.kind == option_kind::text) {
      options.*row.text_field = text;
      continue;
    }
    options.*row.field = row.standard;
    if (text == nullptr || parse(row, text, options.*row.field) || status != NTH_OK)
      continue; // of several wrong ones the first is named
    char range[option_text_size], standard[option_text_size];
    status = fail(NTH_EINVAL, "%s is \"%.100s\": accepted is %s; the default %s stands", row.name, text,
                  option_range(row, range), option_value(row, row.standard, standard));
  }
  return status;
}

nth_status check_options(const nth_options &options) noexcept {
  for (const option_row &row : rows) {
    if (row.kind == option_kind::text)
      continue;
    const long value = options.*row.field;
    if (accepts(row, value))
      continue;
    char field[option_text_size], range[option_text_size];
    field_name(row, field);
    return fail(NTH_EINVAL, "nth_options.%s (%s) is %ld: accepted is %s", field, row.name, value,
                option_range(row, range));
  }
  return NTH_OK;
}

bool is_chosen_stack_size(const nth_options &options) noexcept {
  for (const option_row &row : rows) {
    if (row.field == &nth_options::stack_size)
      return options.stack_size != row.standard || std::getenv(row.name) != nullptr;
  }
  return true;
}

void print_options(int fd) noexcept {
  for (const option_row &row : rows) {
    char standard[option_text_size], range[option_text_size];
    dprintf(fd, "%-22s  default %-5s  %-38s  %s\n", row.name, option_value(row, row.standard, standard),
            option_range(row, range), row.text);
  }
}

} // namespace nth::detail

extern "C" {

nth_status nth_options_init(nth_options *options) {
  if (options == nullptr)
    return nth::detail::fail(NTH_EINVAL, "nth_options_init: options is NULL");
  return nth::detail::read_options(*options);
}

void nth_options_print(int fd) { nth::detail::print_options(fd); }

} // extern "C"
