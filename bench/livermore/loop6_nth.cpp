// A thread a row, but which row it has is settled when it begins: a ready queue keeps the order of what one caller
// puts, yet not across queues that others take from. Threads do not yield while they wait: nth_yield would put the
// row that all others need behind thousands that have not begun.
#include "common/nth_side.hpp"
#include "livermore/loop6.hpp"
#include "livermore/nth_rows.hpp"

using bench::livermore::loop6;

namespace {

void row(loop6 *loop, long) { loop->next_row(); }

void sweep(loop6 *loop, long part, long parts) {
  const bench::livermore::part_of rows(1, loop->rows(), part, parts);
  loop->sweep(rows.first, rows.last);
}

} // namespace

int main(int argc, char **argv) { return bench::livermore::run_all<loop6>(argc, argv, sweep, row); }
