#include "thread/statistics.hpp"

#include "thread/desc_memory.hpp"
#include "thread/needs.hpp"

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace nth::detail {

static_assert(NTH_STACK_CLASSES == stack_regions);

void read_counters(nth_counters &to) noexcept {
  runtime &rt = the_runtime;
  to = {};
  to.workers = rt.workers;
  to.stacks = the_stacks.most();
  to.stacks_unguarded = the_stacks.unguarded();
  to.descriptors = descs_most();
  long live = 0;
  for_each_live([](nth_desc *, void *sum) noexcept { ++*static_cast<long *>(sum); }, &live);
  to.descriptors_free = to.descriptors - live;
  for (int i = 0; i < rt.workers; ++i) {
    to.steals += rt.at(i)->steals.load(std::memory_order_relaxed);
    to.steals_remote += rt.at(i)->steals_remote.load(std::memory_order_relaxed);
    to.sleeps += rt.at(i)->sleeps.load(std::memory_order_relaxed);
  }
  to.stack_bytes = static_cast<long>(the_stacks.size());
  to.descriptor_bytes = sizeof(nth_desc);
  to.reserved_bytes = static_cast<long>(the_area.size);
  to.committed_bytes = static_cast<long>(the_area.committed());
}

__attribute__((no_sanitize("thread"))) // numbers of others, which may change while they are read
desc_numbers
count_descs() noexcept {
  desc_numbers n{descs_allocated(), descs_most(), 0, 0, the_descs.at_nodes(), the_descs.in_global()};
  for (int i = 0; i <= the_runtime.workers; ++i) {
    const worker *w = the_runtime.at(i);
    n.at_workers += static_cast<long>(w->free_count) + w->free_queued + w->loose_count;
    if (const block *youngest = w->returned.load(std::memory_order_acquire))
      n.at_workers += __atomic_load_n(&youngest->depth, __ATOMIC_RELAXED);
    for (int home = 0; home < the_area.homes; ++home) {
      if (const block *b = w->returns_to[home])
        n.under_way += b->hi;
    }
  }
  return n;
}

namespace {

void read_descriptors(nth_object_stats &to) noexcept {
  const desc_numbers n = count_descs();
  to = {sizeof(nth_desc), n.allocated, 0, n.at_workers, n.at_nodes, n.in_global, n.under_way, n.most};
  for_each_desc(
      [](nth_desc *d, void *sum) noexcept {
        if (state_of(d) != thread_state::free)
          ++*static_cast<long *>(sum);
      },
      &to.in_use);
}

__attribute__((no_sanitize("thread"))) // numbers of others, which may change while they are read
void read_stacks(unsigned r, nth_object_stats &to) noexcept {
  const stack_memory::numbers n = the_stacks.count(r);
  to = {256L << r, n.allocated, 0, 0, n.at_nodes, n.in_global, 0, n.most};
  const bool run_class = r == the_stacks.region();
  for (int i = 0; i <= the_runtime.workers; ++i) {
    const worker *w = the_runtime.at(i);
    const stack_top *kept = w->edge.kept;
    const long idle = (run_class && w->dropped != nullptr ? 1 : 0) +
                      (kept != nullptr && region_of_stack(kept) == r ? 1 : 0);
    to.in_use += w->stacks_used[r] - idle;
    to.worker += w->stacks[r].count() + idle;
    for (int node = 0; w->stacks_away != nullptr && node < the_area.nodes; ++node)
      to.under_way += w->stacks_away[static_cast<unsigned>(node) * stack_regions + r].count;
  }
  if (run_class && the_runtime.policy == NTH_POLICY_DOS)
    to.in_use += descs_allocated(); // one a descriptor, free or not
}

__attribute__((no_sanitize("thread"))) // numbers of others, which may change while they are read
void read_segments(nth_stats &to) noexcept {
  for (int i = 0; i <= the_runtime.workers; ++i) {
    const worker *w = the_runtime.at(i);
    const long most = static_cast<long>(w->edge.most_segments) << smallest_class_log2;
    to.segments_taken += w->segments_taken;
    to.segments_kept += w->edge.hits;
    to.segments_most = most > to.segments_most ? most : to.segments_most;
    to.threads_unbounded += w->unbounded.load(std::memory_order_relaxed);
  }
  to.segments_switched = to.segments_taken + to.segments_kept;
  to.roots_unbounded = the_needs.unbounded();
}

// Text that grows; what does not fit is cut, and the buffer is large enough for all there is.
class text {
public:
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...) noexcept {
    va_list list;
    va_start(list, format);
    const int n = std::vsnprintf(buffer + used, sizeof buffer - used, format, list);
    va_end(list);
    if (n > 0)
      used = used + static_cast<std::size_t>(n) < sizeof buffer ? used + static_cast<std::size_t>(n)
                                                                : sizeof buffer - 1;
  }
  void write_to(int fd) const noexcept {
    for (std::size_t at = 0; at < used;) {
      const ssize_t n = write(fd, buffer + at, used - at);
      if (n <= 0)
        return; // a report that nobody can read changes nothing else
      at += static_cast<std::size_t>(n);
    }
  }

private:
  char buffer[8192];
  std::size_t used{0};
};

void add_object(text &to, const nth_object_stats &s) noexcept {
  to.add("{\"bytes\": %ld, \"allocated\": %ld, \"in_use\": %ld, \"worker\": %ld, \"node\": %ld, \"global\": "
         "%ld, "
         "\"under_way\": %ld, \"most\": %ld}",
         s.bytes, s.allocated, s.in_use, s.worker, s.node, s.global, s.under_way, s.most);
}

} // namespace

void read_stats(nth_stats &to) noexcept {
  to = {};
  read_counters(to.counters);
  to.nodes = the_area.nodes;
  to.nodes_unbound = the_runtime.nodes_unbound;
  read_descriptors(to.descriptors);
  for (unsigned r = 0; r < stack_regions; ++r)
    read_stacks(r, to.stacks[r]);
  read_segments(to);
}

void write_stats(int fd) noexcept {
  nth_stats s;
  read_stats(s);
  const nth_counters &c = s.counters;
  text t;
  t.add("{\"workers\": %ld, \"nodes\": %ld, \"nodes_unbound\": %ld, \"steals\": %ld, \"steals_remote\": %ld, "
        "\"sleeps\": %ld, \"stacks_unguarded\": %ld, \"reserved_bytes\": %ld, \"committed_bytes\": %ld, "
        "\"descriptors\": ",
        c.workers, s.nodes, s.nodes_unbound, c.steals, c.steals_remote, c.sleeps, c.stacks_unguarded,
        c.reserved_bytes, c.committed_bytes);
  add_object(t, s.descriptors);
  t.add(", \"stacks\": [");
  const char *separator = "";
  for (const nth_object_stats &of : s.stacks) {
    if (of.most == 0)
      continue;
    t.add("%s", separator);
    separator = ", ";
    add_object(t, of);
  }
  t.add("], \"segments_switched\": %ld, \"segments_taken\": %ld, \"segments_kept\": %ld, \"segments_most\": "
        "%ld, "
        "\"roots_unbounded\": %ld, \"threads_unbounded\": %ld}\n",
        s.segments_switched, s.segments_taken, s.segments_kept, s.segments_most, s.roots_unbounded,
        s.threads_unbounded);
  t.write_to(fd);
}

} // namespace nth::detail
