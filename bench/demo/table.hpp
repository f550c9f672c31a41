#ifndef NTH_BENCH_DEMO_TABLE_HPP
#define NTH_BENCH_DEMO_TABLE_HPP

#include <string>
#include <vector>

namespace bench::demo {

struct row {
  std::string name; // dos, lsa, dsr, or the competitor
  long workers = 0;
  long backlog = 0; // 0: no bound
  bool is_nth = false;

  std::string failure; // empty, or why the rest is
  long n = 0;
  double ns = 0, low = 0, high = 0, cold = 0;
  long stacks = 0, stack_bytes = 0, descriptors = 0, descriptor_bytes = 0;
  long resident = 0; // the largest that was seen

  // Under dos a descriptor lies on its stack: there is no D of its own (paper 000, table 2).
  bool has_descriptors() const { return is_nth && name != "dos"; }
  // What S and D come to.
  long long needed() const {
    return static_cast<long long>(stacks) * stack_bytes +
           (has_descriptors() ? static_cast<long long>(descriptors) * descriptor_bytes : 0);
  }
};

// Paper 000's table 2, with times.
void print_table(const std::vector<row> &rows);
// Its figure 1: time a thread, normalised to the slowest.
void print_figure(const std::vector<row> &rows);

} // namespace bench::demo

#endif
