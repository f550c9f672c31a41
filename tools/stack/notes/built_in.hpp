// What nth knows of glibc and of its own library: notes/glibc.notes and notes/nth.notes, parts of the command.
#pragma once

#include "notes/annotations.hpp"

namespace nth::stack {

// The entries for `m`: a library of glibc, or a program that is linked with it statically and has not put functions of
// its own in the place of malloc; libnth.so, or a program that is linked with libnth.a. Those of glibc name functions that a stripped library has no names
// for: it needs the symbols that were split from it (module::add_split_symbols).
annotations built_in_notes(const module &m);

} // namespace nth::stack
