// A program linked with small stacks: linked, analysed, linked again with stubs, analysed again, patched.
#pragma once

#include "link/ld_command.hpp"

#include <filesystem>

namespace nth::stack {

// In the linker's place. The status is the linker's. Throws bad_input.
int link_as(const std::string &called_as, const std::string &own_folder,
            const std::vector<std::string> &words);

// A program that was linked with a pool already, for want of a second link. Throws bad_input.
void patch_linked(const std::filesystem::path &program, const std::string &output,
                  const std::vector<std::string> &options);

} // namespace nth::stack
