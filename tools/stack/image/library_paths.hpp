// Where a system keeps its shared libraries: /etc/ld.so.cache, made by ldconfig(8), else the directories that
// ldconfig would look into.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nth::stack {

class library_cache {
public:
  library_cache() = default;
  // Of the bytes of ld.so.cache; what makes no sense in it is left out.
  explicit library_cache(std::span<const std::uint8_t> bytes);

  // Of a library for x86-64, for any such processor if there is one; "" for none.
  [[nodiscard]] std::string find(const std::string &name) const;
  [[nodiscard]] std::size_t size() const noexcept { return paths_.size(); }

private:
  struct place {
    std::string path;
    bool for_all = false; // processors
  };
  std::unordered_map<std::string, place> paths_;
};

// As absolute paths within `root`, which they do not name: those of /etc/ld.so.conf, then those built into ld.so.
std::vector<std::string> library_directories(const std::filesystem::path &root);

// A path of the system that lies in `root`; symbolic links in the last place that lead to absolute paths are followed
// within it.
std::filesystem::path path_in_root(const std::filesystem::path &root, const std::filesystem::path &path);

} // namespace nth::stack
