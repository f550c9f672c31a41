// The texts of notes/glibc.notes and notes/nth.notes; their source is made in the build folder.
#pragma once

#include <string_view>

namespace nth::stack {

extern const std::string_view glibc_notes;
extern const std::string_view nth_notes;

} // namespace nth::stack
