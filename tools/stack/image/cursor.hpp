// Reads values one after the other from bytes that nobody has checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace nth::stack {

// After the first read past the end it has failed: that read and all later ones give zeros.
class cursor {
public:
  explicit cursor(std::span<const std::uint8_t> bytes, std::uint64_t at = 0) noexcept
      : bytes_(bytes), at_(at), failed_(at > bytes.size()) {}

  template <typename T>
  T take() noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (failed_ || bytes_.size() - at_ < sizeof value) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint64_t unsigned_leb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64)
        value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80u) == 0)
        return failed_ ? 0 : value;
    }
  }

  std::int64_t signed_leb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64)
        value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80u) != 0)
        continue;
      if (shift < 64 && (byte & 0x40u) != 0)
        value |= ~std::uint64_t{0} << shift;
      return failed_ ? 0 : static_cast<std::int64_t>(value);
    }
  }

  // Up to a NUL, which is skipped.
  std::string_view text() noexcept {
    if (failed_)
      return {};
    const auto rest = bytes_.subspan(at_);
    const void *end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (end == nullptr) {
      failed_ = true;
      return {};
    }
    const auto length = static_cast<std::size_t>(static_cast<const std::uint8_t *>(end) - rest.data());
    at_ += length + 1;
    return {reinterpret_cast<const char *>(rest.data()), length};
  }

  // The next bytes, as a piece of its own.
  std::span<const std::uint8_t> piece(std::uint64_t size) noexcept {
    if (failed_ || size > bytes_.size() - at_) {
      failed_ = true;
      return {};
    }
    const auto result = bytes_.subspan(at_, size);
    at_ += size;
    return result;
  }

  void skip(std::uint64_t size) noexcept { piece(size); }
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool at_end() const noexcept { return failed_ || at_ == bytes_.size(); }

private:
  std::span<const std::uint8_t> bytes_;
  std::uint64_t at_;
  bool failed_;
};

// One value at a place that may lie outside.
template <typename T>
std::optional<T> read_at(std::span<const std::uint8_t> bytes, std::uint64_t at) noexcept {
  cursor c(bytes, at);
  const T value = c.take<T>();
  return c.failed() ? std::nullopt : std::optional<T>(value);
}

// The text at a place in a table of texts; "" where none ends within `longest` bytes.
inline std::string_view text_at(std::span<const std::uint8_t> table, std::uint64_t at,
                                std::uint64_t longest) noexcept {
  if (at >= table.size())
    return {};
  return cursor(table.subspan(at, std::min<std::uint64_t>(longest + 1, table.size() - at))).text();
}

} // namespace nth::stack
