// For libFuzzer (-fsanitize=fuzzer), or with replay_main.cpp for files that are named.
#include "use_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  nth::stack::test::use_image({data, size});
  return 0;
}
