// Threads with several successors each. All are created first, from the last to the first, for a thread is created
// with its successors; then the first is enqueued, and the others follow when their dependencies are met.
//
// OpenBLAS's kernels use 33 KB of stack at most (Haswell and Zen; SkylakeX 10 KB, those without AVX 1 KB), which the
// usual stacks of 64 KiB have. With smaller ones by --stack-size the guard page says so.
#include "cholesky/workload.hpp"
#include "common/nth_side.hpp"

namespace {

using namespace bench::cholesky;

nth_desc *thread(void (*root)(), int dependencies, const std::vector<nth_desc *> &successors,
                 std::initializer_list<long> words) {
  nth_desc *const t = nth_create_v(root, dependencies, static_cast<int>(successors.size()), successors.data(),
                                   static_cast<int>(words.size()), words.begin());
  if (t == nullptr)
    bench::fail("cholesky: no thread: more than 64 tiles in a column, or no memory");
  return t;
}

template <class... P>
auto root(void (*f)(P...)) {
  return reinterpret_cast<void (*)()>(f);
}

long word(const double *tile) { return reinterpret_cast<long>(tile); }

double factor(tiled_matrix &a) {
  const double begin = bench::now_ns();
  const long n = a.tile, tiles = a.tiles;
  // Of each tile the thread that writes it next after step k; before step 0 that is the first of all.
  std::vector<nth_desc *> writers(static_cast<std::size_t>(tiles * tiles));
  const auto writer = [&](long i, long j) -> nth_desc *& {
    return writers[static_cast<std::size_t>(i * tiles + j)];
  };
  nth_desc *const self = nth_self();
  nth_depadd(self, 2);

  std::vector<nth_desc *> after;
  for (long k = tiles - 1; k >= 0; --k) {
    const int earlier = k > 0; // a dependency on the writer of step k - 1
    for (long i = k + 1; i < tiles; ++i) {
      for (long j = k + 1; j < i; ++j)
        writer(i, j) =
            thread(root(gemm), 2 + earlier, {writer(i, j)}, {n, word(a(i, k)), word(a(j, k)), word(a(i, j))});
      writer(i, i) = thread(root(syrk), 1 + earlier, {writer(i, i)}, {n, word(a(i, k)), word(a(i, i))});
    }
    for (long i = k + 1; i < tiles; ++i) {
      after.clear();
      for (long j = k + 1; j <= i; ++j)
        after.push_back(writer(i, j));
      for (long below = i + 1; below < tiles; ++below)
        after.push_back(writer(below, i));
      writer(i, k) = thread(root(trsm), 1 + earlier, after, {n, word(a(k, k)), word(a(i, k))});
    }
    after.clear();
    for (long i = k + 1; i < tiles; ++i)
      after.push_back(writer(i, k));
    if (k == tiles - 1)
      after.push_back(self); // everything leads to the last one
    writer(k, k) = thread(root(potrf), earlier, after, {n, word(a(k, k))});
  }
  nth_to_lrq(nth_worker(), writer(0, 0));
  nth_block();
  return bench::now_ns() - begin;
}

} // namespace

int main(int argc, char **argv) {
  start_blas(argv);
  bench::program p(name, bench::nth_competitor(), default_n);
  const workload work(p);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);
  nth.start(o.workers);
  work.measure(
      o, [&](tiled_matrix &a) { return nth.run([&] { return factor(a); }); },
      [&](bench::result &r) { nth.counts(r); });
  nth.stop();
}
