#include "patched_program.hpp"

#include <fstream>
#include <map>

namespace nth::stack::test {

namespace fs = std::filesystem;

fs::path new_path() {
  static int count = 0;
  return work_directory() / ("file" + std::to_string(count++));
}

void write_bytes(const fs::path &file, const std::vector<std::uint8_t> &bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

fs::path with_pool(const std::string &flags, const pool_room &room, const std::string &link,
                   const std::string &source) {
  static std::map<std::string, fs::path> known;
  const std::string pool = pool_source(room);
  fs::path &path =
      known[flags + link + source + std::to_string(room.stubs) + '/' + std::to_string(room.needs)];
  if (!path.empty())
    return path;
  path = new_path();
  const std::string text = path.string() + ".S";
  std::ofstream(text) << pool;
  output_of("gcc -O2 -w -mgeneral-regs-only " + flags +
            " -I " INCLUDES " -c " PATCH_SUBJECTS "/growth.c -o " + path.string() + ".o 2>&1");
  output_of("gcc -O2 -w " + flags + link + " " PATCH_SUBJECTS "/" + source + " " + path.string() + ".o " +
            text + " -o " + path.string() + " 2>&1");
  return path;
}

} // namespace nth::stack::test
