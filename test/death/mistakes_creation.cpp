// Wrong calls of nth_create and its forms.
#include "mistakes.hpp"

#include <cerrno>
#include <vector>

namespace nth::test {
namespace {

using root_function = void (*)();
const root_function nothing = [] {};

// Calls make(self), which must be refused with EINVAL, from a thread and, when that has passed, right ones.
template <class F>
void refused(F make) {
  const watchdog guard;
  const runtime up(1);
  const long before = counters().descriptors - counters().descriptors_free;
  run([&] {
    errno = 0;
    EXPECT_EQ(make(nth_self()), nullptr);
    EXPECT_EQ(errno, EINVAL);
    int runs = 0;
    auto body = [&] { ++runs; };
    nth_depadd(nth_self(), 2);
    nth_to_lrq(0, create(body, nth_self()));
    nth_block();
    EXPECT_EQ(runs, 1);
  });
  EXPECT_EQ(counters().descriptors - counters().descriptors_free, before) << "nothing is half made";
}

void null_root() {
  refused([](nth_desc *self) { return nth_create_ls_v(nullptr, 0, self, 0, nullptr); });
}
void null_root_v() {
  refused([](nth_desc *) { return nth_create_v(nullptr, 0, 0, nullptr, 0, nullptr); });
}
void null_root_variadic() {
  refused([](nth_desc *self) { return nth_create_ls(nullptr, 0, self, 0); });
}
void negative_dependencies() {
  refused([](nth_desc *self) { return nth_create_ls_v(nothing, -1, self, 0, nullptr); });
}
void many_dependencies() {
  refused(
      [](nth_desc *self) { return nth_create_ls_v(nothing, NTH_MAX_DEPENDENCIES + 1, self, 0, nullptr); });
}
void negative_successors() {
  refused([](nth_desc *self) { return nth_create_v(nothing, 0, -1, &self, 0, nullptr); });
}
void many_successors() {
  refused([](nth_desc *self) {
    const std::vector<nth_desc *> all(NTH_MAX_SUCCESSORS + 1, self);
    return nth_create_v(nothing, 0, NTH_MAX_SUCCESSORS + 1, all.data(), 0, nullptr);
  });
}
void null_successor() {
  refused([](nth_desc *self) {
    nth_desc *const all[] = {self, nullptr, self};
    return nth_create_v(nothing, 0, 3, all, 0, nullptr);
  });
}
void negative_arguments() {
  refused([](nth_desc *self) { return nth_create_ls_v(nothing, 0, self, -1, nullptr); });
}
void many_arguments() {
  refused([](nth_desc *self) {
    const long words[NTH_MAX_ARGS + 1] = {};
    return nth_create_ls_v(nothing, 0, self, NTH_MAX_ARGS + 1, words);
  });
}
void many_arguments_v() {
  refused([](nth_desc *) {
    const long words[NTH_MAX_ARGS + 1] = {};
    return nth_create_v(nothing, 0, 0, nullptr, NTH_MAX_ARGS + 1, words);
  });
}
void wrong_count_in_overload() {
  refused([](nth_desc *self) {
    return nth_create_ls(
        +[](long) {}, 0, self, 2, 1L);
  });
}

} // namespace

const std::vector<mistake> creation_mistakes = {
    {"null_root", null_root, NTH_EINVAL, {"nth_create", "root|function"}},
    {"null_root_v", null_root_v, NTH_EINVAL, {"nth_create", "root|function"}},
    {"null_root_variadic", null_root_variadic, NTH_EINVAL, {"nth_create", "root|function"}},
    {"negative_dependencies", negative_dependencies, NTH_EINVAL, {"nth_create", "ndep|dependenc"}},
    {"many_dependencies", many_dependencies, NTH_EINVAL, {"nth_create", "ndep|dependenc"}},
    {"negative_successors", negative_successors, NTH_EINVAL, {"nth_create", "nsucc|successor"}},
    {"many_successors", many_successors, NTH_EINVAL, {"nth_create", "nsucc|successor"}},
    {"null_successor", null_successor, NTH_EINVAL, {"nth_create", "succ|successor"}},
    {"negative_arguments", negative_arguments, NTH_EINVAL, {"nth_create", "narg|argument"}},
    {"many_arguments", many_arguments, NTH_EINVAL, {"nth_create", "narg|argument"}},
    {"many_arguments_v", many_arguments_v, NTH_EINVAL, {"nth_create", "narg|argument"}},
    {"wrong_count_in_overload", wrong_count_in_overload, NTH_EINVAL, {"nth_create", "narg|argument"}},
};

} // namespace nth::test
