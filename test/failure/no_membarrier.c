/* Loaded before the C library: a kernel without membarrier(2), so that the run-time takes its other way,
 * in which the owner of a queue pays for a locked instruction. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

typedef long (*syscall_function)(long number, ...);

__attribute__((visibility("default"))) long syscall(long number, ...) {
  long words[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i)
    words[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_membarrier) {
    errno = ENOSYS;
    return -1;
  }
  syscall_function next;
  *(void **)&next = dlsym(RTLD_NEXT, "syscall");
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
