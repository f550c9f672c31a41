// Writes the page of an analysis made by hand: page_subject FILE FUNCTIONS
#include "subject.hpp"

#include <cstdlib>
#include <fstream>

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const auto functions = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  std::ofstream out(argv[1], std::ios::binary);
  nth::stack::write_page(out, nth::stack::menagerie(functions), {});
  out.close();
  return out ? 0 : 1;
}
