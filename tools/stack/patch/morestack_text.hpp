// The text of src/growth/x86_64/morestack.S; its source is made in the build folder.
#pragma once

#include <string_view>

namespace nth::stack {

extern const std::string_view morestack_text;

} // namespace nth::stack
