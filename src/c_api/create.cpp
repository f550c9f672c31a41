// Threads: creating.
#include "base/error.hpp"
#include "c_api/check.hpp"
#include "growth/program.hpp"
#include "thread/outside.hpp"
#include "thread/roomy.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>

using namespace nth::detail;

[[gnu::cold, gnu::noinline]] nth_desc *nth::detail::no_memory(const char *call) noexcept {
  static_cast<void>(fail(NTH_ENOMEM,
                         "%s: no memory for a descriptor; %ld are in use or wait to be used again", call,
                         descs_allocated()));
  errno = ENOMEM;
  return nullptr;
}

[[gnu::cold, gnu::noinline]] const char *nth::detail::describe_refusal(void (*root)(), char *buffer,
                                                                       unsigned long size) noexcept {
  char name[160];
  describe_function(function_behind(reinterpret_cast<const void *>(root)), name, sizeof name);
  const need_entry *e = the_needs.find(root);
  std::snprintf(
      buffer, size,
      "root %s %s%.150s; give nth-stack a bound for it (doc/stack-notes.md), or set NTH_STACK_STRICT=0", name,
      e == nullptr                                                ? "is not in the table of needs"
      : (e->proof & (NTH_NEED_UNBOUNDED | NTH_NEED_GUARDED)) != 0 ? "has no proved need of stack: "
                                                                  : "has a need of stack that is assumed: ",
      e == nullptr || e->reason == nullptr ? "" : e->reason);
  return buffer;
}

namespace {

[[gnu::cold, gnu::noinline]] nth_desc *refuse_creation(const char *call, const char *wrong) noexcept {
  misuse(NTH_EINVAL, "%s: %s", call, wrong);
  errno = EINVAL;
  return nullptr;
}

[[gnu::noinline]] nth_desc *create_checked(const char *call, const creation &c) noexcept {
  if (const char *wrong = wrong_creation(c))
    return refuse_creation(call, wrong);
  if (the_runtime.strict && is_refused(c.root)) [[unlikely]] {
    char why[400];
    return refuse_creation(call, describe_refusal(c.root, why, sizeof why));
  }
  nth_desc *d = nullptr;
  if (worker *w = worker_or_null()) {
    d = create_thread(w, c);
  } else if (up()) {
    outside_scope outside;
    d = create_thread(outside.get(), c);
  } else {
    misuse(NTH_ESTATE, "%s: the run-time is not up; call nth_init first", call);
    errno = EINVAL;
    return nullptr;
  }
  return d != nullptr ? d : no_memory(call);
}

// One word is captured: the frame of this lies on the caller's stack.
inline nth_desc *create_roomy(const char *call, const creation &c) noexcept {
  struct {
    const char *call;
    const creation *c;
  } const it{call, &c};
  return roomy(current_worker(), [&it] { return create_checked(it.call, *it.c); });
}

[[gnu::noinline]] nth_desc *create_two_slow(void (*root)(), int ndep, nth_desc *succ, int narg, long word0,
                                            long word1) noexcept {
  const long words[2] = {word0, word1};
  return create_roomy("nth_create_ls", {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, words});
}

// In a program with a table of needs. A descriptor is in the list.
[[gnu::noinline]] nth_desc *create_ls_by_need(void (*root)(), int ndep, nth_desc *succ, long word0,
                                              long word1) noexcept {
  if (the_runtime.strict && is_refused(root)) [[unlikely]]
    return create_two_slow(root, ndep, succ, 2, word0, word1);
  worker *w = current_worker();
  const std::uint8_t flags = stack_flags_of(w, root, false);
  nth_desc *d = take_desc(w);
  d->args[0] = word0;
  d->args[1] = word1;
  prepare_desc(d, root, succ, ndep, flags);
  return d;
}

} // namespace

// nth_create_ls itself is in entries.S: it goes on here with up to two words, which System V x86-64 passes in
// the registers of named arguments, and spares what a function with variable arguments does at its start.
extern "C" __attribute__((visibility("hidden"))) nth_desc *nth_create_ls_two(void (*root)(), int ndep,
                                                                             nth_desc *succ, int narg,
                                                                             long word0, long word1) {
  worker *w = current_worker();
  if (w->free_count == 0 || root == nullptr || static_cast<unsigned>(ndep) > NTH_MAX_DEPENDENCIES)
      [[unlikely]]
    return create_two_slow(root, ndep, succ, narg, word0, word1);
  if (!the_needs.empty()) [[unlikely]]
    return create_ls_by_need(root, ndep, succ, word0, word1);
  nth_desc *d = take_desc(w);
  d->args[0] = word0;
  d->args[1] = word1;
  prepare_desc(d, root, succ, ndep, 0);
  return d;
}

// And here with any other number of them, a wrong one too.
extern "C" __attribute__((visibility("hidden"))) nth_desc *nth_create_ls_many(void (*root)(), int ndep,
                                                                              nth_desc *succ, int narg, ...) {
  va_list list;
  va_start(list, narg);
  nth_desc *d = roomy(current_worker(), [&] {
    long words[NTH_MAX_ARGS];
    for (int i = 0; i < narg && narg <= NTH_MAX_ARGS; ++i)
      words[i] = va_arg(list, long);
    return create_checked("nth_create_ls", {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, words});
  });
  va_end(list);
  return d;
}

extern "C" NTH_API nth_desc *nth_create_ls_v(void (*root)(), int ndep, nth_desc *succ, int narg,
                                             const long *args) {
  return create_roomy("nth_create_ls", {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, args});
}

extern "C" NTH_API nth_desc *nth_create_v(void (*root)(), int ndep, int nsucc, nth_desc *const *succ,
                                          int narg, const long *args) {
  return create_roomy("nth_create", {root, ndep, nsucc, succ, narg, args});
}

namespace {

[[gnu::noinline]] nth_desc *create_listed(void (*root)(), int ndep, int nsucc, int narg,
                                          va_list list) noexcept {
  nth_desc *d = nullptr;
  read_listed(root, ndep, nsucc, narg, list,
              [&d](const creation &c) { d = create_checked("nth_create", c); });
  return d;
}

} // namespace

extern "C" NTH_API nth_desc *nth_create(void (*root)(), int ndep, int nsucc, int narg, ...) {
  va_list list;
  va_start(list, narg);
  nth_desc *d = roomy(current_worker(), [&] { return create_listed(root, ndep, nsucc, narg, list); });
  va_end(list);
  return d;
}
