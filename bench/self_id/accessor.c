/* Compiled twice, as ACCESSOR=tls_self_linked and tls_self_shared. */
#include "accessor.h"

/* Not static: the compiler must not find out that nobody sets it. */
#define running_name_(f) f##_running
#define running_name(f) running_name_(f)
_Thread_local void *running_name(ACCESSOR) __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) void *ACCESSOR(void) {
  __asm__ volatile("" : : : "memory"); /* read again at each call */
  return running_name(ACCESSOR);
}
