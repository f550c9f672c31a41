// A file in memory as long as this lives.
#pragma once

#include "image/module.hpp"

#include <utility>

namespace nth::stack {

class mapping {
public:
  mapping() = default;
  explicit mapping(const std::filesystem::path &path); // throws bad_input
  mapping(mapping &&other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  mapping &operator=(mapping &&other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~mapping();

  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return {static_cast<const std::uint8_t *>(begin_), size_};
  }

private:
  void map(const std::filesystem::path &path, int file);

  void *begin_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace nth::stack
