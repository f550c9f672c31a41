// The largest plan that a program allows: each function whose address is taken gets an entry stub, each direct call and each
// call of a library a stub.
#pragma once

#include "patch/link_plan.hpp"

namespace nth::stack::test {

// `refused`: is told of functions whose references can't all be redirected; may be null.
link_plan everything(const module &m, std::vector<std::string> *refused = nullptr);

} // namespace nth::stack::test
