#include "marks.hpp"

namespace nth::marks {

void arguments::general(std::uint64_t a) {
  if (generals < 6)
    frame.general[generals++] = a;
  else
    words.push_back(a);
}

void arguments::vector(std::uint64_t a) {
  if (frame.vectors < 8)
    frame.vector[frame.vectors++][0] = a;
  else
    words.push_back(a);
}

void arguments::complex(std::complex<double> a) {
  if (frame.vectors > 6) { // both halves in registers or none
    memory(&a, 16, 2);
    return;
  }
  vector(std::bit_cast<std::uint64_t>(a.real()));
  vector(std::bit_cast<std::uint64_t>(a.imag()));
}

void arguments::memory(const void *from, std::size_t bytes, std::size_t in_words) {
  if (bytes != 16 && words.size() % 2 != 0)
    words.push_back(0); // long double is aligned to 16
  std::uint64_t copy[4] = {};
  std::memcpy(copy, from, bytes);
  words.insert(words.end(), copy, copy + in_words);
}

call_frame &arguments::finish() {
  if (words.size() % 2 != 0)
    words.push_back(0);
  frame.words = words.data();
  frame.word_count = words.size();
  return frame;
}

} // namespace nth::marks
