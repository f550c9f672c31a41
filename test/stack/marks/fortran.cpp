// Marks of gfortran's run-time library, through functions of fortran_subjects.f90.
#include "marks.hpp"

using namespace nth::marks;

MARKS_ON(formatted, 1U << 20U) {
  for (int i = 0; i < rounds(60); ++i) {
    expect(call("fortran_write_text", static_cast<int>(below(99999)), real()).as<int>() > 20,
           "a written line");
    expect(call("fortran_read_text", 1234).as<int>() == 23, "what was read");
    call("fortran_print", i);
  }
}

MARKS_ON(files, 1U << 20U) {
  for (int i = 0; i < rounds(10); ++i)
    expect(call("fortran_files", static_cast<int>(1 + below(30))).as<int>() == 1, "an open file");
}

MARKS_ON(intrinsics, 1U << 20U) {
  for (int i = 0; i < rounds(30); ++i) {
    call("fortran_arrays", static_cast<int>(2 + below(40)));
    call("fortran_system");
    call("fortran_recursion", static_cast<int>(below(200)));
  }
}
