// Kernel threads that are no workers, with a descriptor that stands for them.
#include "base/error.hpp"
#include "c_api/check.hpp"
#include "thread/outside.hpp"

#include <cerrno>

using namespace nth::detail;

extern "C" NTH_API nth_desc *nth_attach(void) {
  if (!up() || worker_or_null() != nullptr) {
    misuse(NTH_ESTATE, "nth_attach: %s",
           up() ? "the caller is a nano-thread; it has nth_self()"
                : "the run-time is not up; call nth_init first");
    errno = EINVAL;
    return nullptr;
  }
  if (attached() != nullptr) {
    static_cast<void>(fail(NTH_ESTATE, "nth_attach: this kernel thread has a descriptor already"));
    errno = EBUSY;
    return nullptr;
  }
  nth_desc *d = make_outside_desc();
  if (d == nullptr)
    return no_memory("nth_attach");
  set_attached(d);
  return d;
}

extern "C" NTH_API nth_status nth_detach(void) {
  nth_desc *d = attached();
  if (d == nullptr)
    return fail(NTH_ESTATE, "nth_detach: this kernel thread has no descriptor; nth_attach gives one");
  if (dependencies(d) != 0)
    return fail(NTH_EBUSY, "nth_detach: %u dependencies are left; call nth_block first",
                dependencies(d) & dep_count);
  drop_outside_desc(d);
  set_attached(nullptr);
  return NTH_OK;
}
