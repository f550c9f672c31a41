// Functions made from a few lines of assembly, for tests.
#pragma once

#include "scanned_module.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nth::stack {

// Functions of these bodies, as a program without libraries.
class assembled {
public:
  explicit assembled(const std::vector<std::pair<std::string, std::string>> &functions) {
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("nth_arguments_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream out(folder / "a.S");
    out << ".text\n.globl _start\n_start: hlt\n";
    for (const auto &[name, body] : functions)
      out << ".globl " << name << "\n.type " << name << ",@function\n"
          << name << ":\n.cfi_startproc\n"
          << body << "\n.cfi_endproc\n.size " << name << ", .-" << name << "\n";
    out << ".section .note.GNU-stack,\"\",@progbits\n";
    out.close();
    const std::string command =
        "cd '" + folder.string() + "' && gcc -nostdlib -shared -fpic -Wl,-z,now -o a.so a.S";
    EXPECT_EQ(std::system(command.c_str()), 0);
    code = std::make_unique<scanned_module>(folder / "a.so");
    std::filesystem::remove_all(folder);
  }
  [[nodiscard]] const function_facts &of(const std::string &name) const { return *code->of(name); }

private:
  std::unique_ptr<scanned_module> code;
};

} // namespace nth::stack
