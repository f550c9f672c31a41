// A C++ program against the installed library: as sum.c, with roots and arguments of the program's own types.
#include <nth/nth.h>

#include <atomic>
#include <iostream>

namespace {

struct total {
  std::atomic<long> value{0};
};

void add(total *sum, int i) { sum->value += i; }

void root(total *sum, int threads) {
  nth_desc *self = nth_self();
  nth_depadd(self, threads + 1);
  for (int i = 0; i < threads; i++)
    nth_to_lrq_end(i % kthreads, nth_create_ls(add, 0, self, 2, sum, i));
  nth_block();
}

} // namespace

int main() {
  total sum;
  if (nth_init(nullptr) != NTH_OK || nth_run(root, 2, &sum, 1000) != NTH_OK || nth_finalize() != NTH_OK)
    return 1;
  std::cout << "sum.cpp: " << sum.value << '\n';
  return sum.value == 1000L * 999 / 2 ? 0 : 2;
}
