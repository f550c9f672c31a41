// A graph of tasks: the longest common subsequence of two texts, cut into tiles. A tile needs its neighbours
// above, to the left and above-left of it; the edges are dependencies, and the tiles of a diagonal run at the
// same time. No thread waits: each starts when what it needs is there.
//
//   c++ -std=c++20 dag.cpp -lnth -o dag && ./dag
#include "nth/nth.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int tiles = 32;
constexpr int side = 64; // of a tile
constexpr int length = tiles * side;

std::string first, second;
std::vector<std::vector<int>> table(length + 1, std::vector<int>(length + 1));

void fill(int tile_row, int tile_column) {
  for (int i = tile_row * side + 1; i <= (tile_row + 1) * side; ++i)
    for (int j = tile_column * side + 1; j <= (tile_column + 1) * side; ++j) {
      int &cell = table[i][j];
      cell = first[i - 1] == second[j - 1] ? table[i - 1][j - 1] + 1
                                           : std::max(table[i - 1][j], table[i][j - 1]);
    }
}

void compute() {
  nth_desc *self = nth_self();
  nth_desc *thread[tiles][tiles];

  // A successor is made before the threads that it depends on, so from the last tile to the first. The last
  // tile is followed by this thread.
  nth_depadd(self, 2);
  for (int row = tiles - 1; row >= 0; --row)
    for (int column = tiles - 1; column >= 0; --column) {
      const int before = row > 0 && column > 0 ? 2 : row > 0 || column > 0 ? 1 : 0;
      nth_desc *below = row + 1 < tiles ? thread[row + 1][column] : nullptr;
      nth_desc *right = column + 1 < tiles ? thread[row][column + 1] : nullptr;
      if (below != nullptr && right != nullptr)
        thread[row][column] = nth_create(fill, before, 2, 2, below, right, row, column);
      else
        thread[row][column] = nth_create_ls(fill, before,
                                            below != nullptr   ? below
                                            : right != nullptr ? right
                                                               : self,
                                            2, row, column);
    }
  nth_to_lrq(nth_worker(), thread[0][0]); // the others follow by themselves
  nth_block();
}

} // namespace

int main() {
  for (int i = 0; i < length; ++i) {
    first += "ACGT"[std::rand() % 4];
    second += "ACGT"[std::rand() % 4];
  }
  if (nth_init(nullptr) != NTH_OK || nth_run(compute, 0) != NTH_OK || nth_finalize() != NTH_OK) {
    std::fprintf(stderr, "dag: %s\n", nth_last_error());
    return EXIT_FAILURE;
  }
  std::printf("two texts of %d letters share a subsequence of %d\n", length, table[length][length]);
}
