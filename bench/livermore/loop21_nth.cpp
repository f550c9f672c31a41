#include "common/nth_side.hpp"
#include "livermore/loop21.hpp"
#include "livermore/nth_rows.hpp"

using bench::livermore::loop21;

namespace {

void row(loop21 *loop, long j) { loop->row(j); }

void kernel_order(loop21 *loop, long part, long parts) {
  const bench::livermore::part_of rows(0, loop->rows(), part, parts);
  loop->kernel_order(rows.first, rows.last);
}

} // namespace

int main(int argc, char **argv) { return bench::livermore::run_all<loop21>(argc, argv, kernel_order, row); }
