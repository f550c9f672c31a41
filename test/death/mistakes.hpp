// The table of user mistakes that misuse_test.cpp goes through.
#pragma once

#include "nth/nth.h"

#include <ostream>
#include <vector>

namespace nth::test {

// `make` starts the run-time, makes the mistake once, goes on as if the call had not been made, and checks
// that nothing was lost.
struct mistake {
  const char *name;
  void (*make)();
  nth_status status;
  std::vector<const char *> words; // which the message must have; "a|b": one of them
};

inline void PrintTo(const mistake &one, std::ostream *out) { *out << one.name; }

extern const std::vector<mistake> creation_mistakes; // mistakes_creation.cpp
extern const std::vector<mistake> queue_mistakes;    // mistakes_queue.cpp

} // namespace nth::test
