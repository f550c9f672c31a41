// How far a long analysis is, on a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace nth::stack {

// One line on stderr, if that is a terminal and it takes more than a second; gone when this object goes.
class progress_line {
public:
  progress_line();
  ~progress_line();
  progress_line(const progress_line &) = delete;
  progress_line &operator=(const progress_line &) = delete;

  void show(std::string_view what, std::size_t done, std::size_t all);

private:
  using clock = std::chrono::steady_clock;

  bool terminal_;
  bool drawn_ = false;
  clock::time_point next_; // not before
};

} // namespace nth::stack
