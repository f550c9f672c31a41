// The files page.html, page.css and page.js as the build found them.
#pragma once

#include <string_view>

namespace nth::stack {

extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;

} // namespace nth::stack
