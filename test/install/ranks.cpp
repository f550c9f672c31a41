// A user's C++ program on the ranks of a cluster run: containers, strings and exceptions in threads.
#include <nth/cluster.h>
#include <nth/iso.hpp>

#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

using text = std::basic_string<char, std::char_traits<char>, nth::iso_allocator<char>>;
using table = std::map<long, text, std::less<>, nth::iso_allocator<std::pair<const long, text>>>;

static void fill() {
  table squares;
  for (long i = 0; i < 1000; i++)
    squares[i] = text(static_cast<std::size_t>(i % 50), 'x') + std::to_string(i * i).c_str();
  try {
    throw std::runtime_error("from rank " + std::to_string(nth_rank()));
  } catch (const std::exception &e) {
    nth_printf("%zu squares, the last %s; an exception %s\n", squares.size(),
               squares.rbegin()->second.c_str(), e.what());
  }
}

int main(int argc, char **argv) {
  if (nth_cluster_init(&argc, &argv, nullptr) != NTH_OK) {
    std::fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  return nth_run(fill, 0) == NTH_OK && nth_cluster_finalize() == NTH_OK ? 0 : 1;
}
