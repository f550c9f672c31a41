#include "image/library_paths.hpp"

#include "image/cursor.hpp"

#include <fstream>
#include <sstream>

#include <glob.h>

namespace nth::stack {

namespace {

constexpr std::string_view old_magic = "ld.so-1.7.0";
constexpr std::string_view new_magic = "glibc-ld.so.cache1.1";
constexpr std::uint32_t for_x86_64 = 0x0303; // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6
constexpr std::uint64_t longest_path = 4096;
constexpr int deepest_include = 8;
constexpr int most_links = 40;
constexpr std::size_t most_directories = 1024;

struct cache_header {
  char magic[20];
  std::uint32_t libraries;
  std::uint32_t strings_size;
  std::uint32_t unused[5];
};
static_assert(sizeof(cache_header) == 48);

struct cache_entry {
  std::uint32_t flags;
  std::uint32_t name;
  std::uint32_t path;
  std::uint32_t system;
  std::uint64_t processor;
};
static_assert(sizeof(cache_entry) == 24);

bool is(std::span<const std::uint8_t> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// The format of glibc before 2.32 may come first: a header of 16 bytes and entries of 12.
std::span<const std::uint8_t> skip_old_part(std::span<const std::uint8_t> bytes) {
  if (!is(bytes, old_magic))
    return bytes;
  const std::uint64_t count = read_at<std::uint32_t>(bytes, 12).value_or(0);
  const std::uint64_t end = (16 + 12 * count + 7) & ~std::uint64_t{7};
  return end <= bytes.size() ? bytes.subspan(end) : bytes.first(0);
}

void add_from(const std::filesystem::path &root, const std::filesystem::path &file, int depth,
              std::vector<std::string> &directories);

void include(const std::filesystem::path &root, const std::filesystem::path &pattern, int depth,
             std::vector<std::string> &directories) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i != found.gl_pathc; ++i)
      add_from(root, found.gl_pathv[i], depth, directories);
  globfree(&found);
}

void add_from(const std::filesystem::path &root, const std::filesystem::path &file, int depth,
              std::vector<std::string> &directories) {
  std::ifstream in(file);
  std::string line;
  while (directories.size() < most_directories && std::getline(in, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word))
      continue;
    if (word == "include") {
      while (depth < deepest_include && words >> word)
        include(root, word.starts_with('/') ? path_in_root(root, word) : file.parent_path() / word, depth + 1,
                directories);
    } else if (word.starts_with('/')) {
      directories.push_back(word);
    }
  }
}

} // namespace

library_cache::library_cache(std::span<const std::uint8_t> bytes) {
  bytes = skip_old_part(bytes);
  if (!is(bytes, new_magic))
    return;
  cursor c(bytes);
  const auto header = c.take<cache_header>();
  for (std::uint32_t i = 0; i != header.libraries && !c.failed(); ++i) {
    const auto entry = c.take<cache_entry>();
    if (entry.flags != for_x86_64)
      continue;
    const std::string_view name = text_at(bytes, entry.name, longest_path);
    const std::string_view path = text_at(bytes, entry.path, longest_path);
    if (name.empty() || !path.starts_with('/'))
      continue;
    const place here{std::string(path), entry.processor == 0};
    const auto [known, added] = paths_.emplace(name, here);
    if (!added && !known->second.for_all && here.for_all)
      known->second = here;
  }
}

std::string library_cache::find(const std::string &name) const {
  const auto found = paths_.find(name);
  return found != paths_.end() ? found->second.path : std::string();
}

std::vector<std::string> library_directories(const std::filesystem::path &root) {
  std::vector<std::string> directories;
  add_from(root, path_in_root(root, "/etc/ld.so.conf"), 0, directories);
  for (const char *built_in :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    directories.emplace_back(built_in);
  return directories;
}

std::filesystem::path path_in_root(const std::filesystem::path &root, const std::filesystem::path &path) {
  std::filesystem::path result = root / path.relative_path();
  if (root == "/")
    return result;
  std::error_code error;
  for (int i = 0; i != most_links && std::filesystem::is_symlink(result, error); ++i) {
    const auto target = std::filesystem::read_symlink(result, error);
    if (error)
      break;
    result = target.is_absolute() ? root / target.relative_path() : result.parent_path() / target;
  }
  return result;
}

} // namespace nth::stack
