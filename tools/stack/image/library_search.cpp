#include "image/library_search.hpp"

#include "image/library_paths.hpp"

#include <deque>
#include <fstream>
#include <set>
#include <unordered_set>

#include <elf.h>

namespace nth::stack {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_modules = 4096;
constexpr std::size_t largest_cache = std::size_t{1} << 26;

// ld.so passes by files for other machines and looks on.
bool is_for_this_machine(const fs::path &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return false;
  std::ifstream in(path, std::ios::binary);
  Elf64_Ehdr header{};
  return in.read(reinterpret_cast<char *>(&header), sizeof header) &&
         std::string_view(reinterpret_cast<const char *>(header.e_ident), SELFMAG) == ELFMAG &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_machine == EM_X86_64 && header.e_type == ET_DYN;
}

std::vector<std::uint8_t> read_file(const fs::path &path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size > largest_cache)
    return {};
  std::vector<std::uint8_t> bytes(size);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

bool replace(std::string &text, std::string_view what, std::string_view by) {
  bool any = false;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
    any = true;
  }
  return any;
}

class searcher {
public:
  searcher(const search_options &options)
      : options_(options), cache_(read_file(path_in_root(options.root, "/etc/ld.so.cache"))) {
    if (cache_.size() == 0)
      directories_ = library_directories(options.root);
    else
      directories_ = {
          "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  }

  loaded_program run(const fs::path &path) {
    add(path, no_parent);
    const std::string interpreter = result_.modules.front().interpreter;
    if (!interpreter.empty())
      interpreter_ = path_in_root(options_.root, interpreter);
    for (std::size_t i = 0; i < result_.modules.size() && i < most_modules; ++i) {
      const std::vector<std::string> needed = result_.modules[i].needed;
      for (const std::string &name : needed)
        load(name, i);
    }
    if (!interpreter.empty())
      load(interpreter_.filename().string(), 0);
    return std::move(result_);
  }

private:
  static constexpr std::size_t no_parent = ~std::size_t{0};

  void add(const fs::path &path, std::size_t parent) {
    module m(path);
    names_.insert(m.name);
    std::error_code error;
    files_.insert(fs::weakly_canonical(path, error));
    m.add_split_symbols(path_in_root(options_.root, "/usr/lib/debug"));
    result_.modules.push_back(std::move(m));
    parents_.push_back(parent);
  }

  void load(const std::string &name, std::size_t needed_by) {
    if (!names_.insert(name).second)
      return;
    const fs::path path = find(name, needed_by);
    std::error_code error;
    if (!path.empty() && files_.contains(fs::weakly_canonical(path, error)))
      return;
    try {
      if (!path.empty()) {
        add(path, needed_by);
        return;
      }
    } catch (const bad_input &) {
      // As good as not there; what it is named stays.
    }
    result_.missing.push_back(name);
  }

  // In ld.so's order; `first` has the place of LD_LIBRARY_PATH, but before all.
  [[nodiscard]] fs::path find(const std::string &name, std::size_t needed_by) const {
    if (name.find('/') != std::string::npos)
      return usable(name.starts_with('/') ? path_in_root(options_.root, name) : fs::path(name));
    if (name == interpreter_.filename())
      return usable(interpreter_);
    for (const fs::path &directory : options_.first)
      if (fs::path found = usable(directory / name); !found.empty())
        return found;
    for (std::size_t i = needed_by; i != no_parent; i = parents_[i])
      if (i == needed_by || result_.modules[i].run_paths_inherited)
        for (const fs::path &directory : run_paths(result_.modules[i]))
          if (fs::path found = usable(directory / name); !found.empty())
            return found;
    if (const std::string cached = cache_.find(name); !cached.empty())
      if (fs::path found = usable(path_in_root(options_.root, cached)); !found.empty())
        return found;
    for (const std::string &directory : directories_)
      if (fs::path found = usable(path_in_root(options_.root, fs::path(directory) / name)); !found.empty())
        return found;
    return {};
  }

  static fs::path usable(const fs::path &path) { return is_for_this_machine(path) ? path : fs::path(); }

  // With $ORIGIN a path leads from the module's own place, which is in the root already. $LIB differs between
  // distributions: both are tried.
  [[nodiscard]] std::vector<fs::path> run_paths(const module &m) const {
    std::error_code error;
    const std::string origin = fs::weakly_canonical(m.path, error).parent_path().string();
    std::vector<fs::path> result;
    for (const std::string &list : m.run_paths) {
      for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(':', begin), list.size());
        const std::string path = list.substr(begin, end - begin);
        begin = end + 1;
        if (path.empty())
          continue;
        for (const char *lib : {"lib/x86_64-linux-gnu", "lib64"})
          result.push_back(expand(path, origin, lib));
      }
    }
    return result;
  }

  [[nodiscard]] fs::path expand(std::string path, const std::string &origin, std::string_view lib) const {
    const bool own = replace(path, "$ORIGIN", origin) || replace(path, "${ORIGIN}", origin);
    for (const std::string_view word : {"$LIB", "${LIB}"})
      replace(path, word, lib);
    for (const std::string_view word : {"$PLATFORM", "${PLATFORM}"})
      replace(path, word, "x86_64");
    return own || !path.starts_with('/') ? fs::path(path) : path_in_root(options_.root, path);
  }

  const search_options &options_;
  library_cache cache_;
  std::vector<std::string> directories_;
  fs::path interpreter_;
  loaded_program result_;
  std::vector<std::size_t> parents_; // of each module: who first needed it
  std::unordered_set<std::string> names_;
  std::set<fs::path> files_;
};

} // namespace

loaded_program load_program(const fs::path &path, const search_options &options) {
  return searcher(options).run(path);
}

} // namespace nth::stack
