/* A thread on a small stack calls a function that was loaded, through the pointer that dlsym gave; signal handlers are put
 * onto the alternate stack. */
#define _GNU_SOURCE
#include <nth/nth.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void handler(int number) { (void)number; }

static void root(const char *library) {
  void *handle = dlopen(library, RTLD_NOW);
  if (handle == NULL) {
    printf("%s\n", dlerror());
    return;
  }
  union {
    void *data;
    long (*code)(long);
  } f, again;
  f.data = dlsym(handle, "deep_work");
  again.data = dlsym(handle, "deep_work");
  long sum = 0;
  for (long i = 0; i < 100; ++i)
    sum += f.code(i);
  printf("%ld %d\n", sum, f.data == again.data);
  printf("%d %d\n", dlsym(handle, "nowhere") == NULL, dlsym(RTLD_DEFAULT, "puts") != NULL);
  struct sigaction set;
  if (sigaction(SIGUSR1, NULL, &set) != 0 || signal(SIGUSR2, handler) != SIG_DFL)
    return;
  printf("%d %d", (set.sa_flags & SA_ONSTACK) != 0, set.sa_handler == handler);
  if (sigaction(SIGUSR2, NULL, &set) == 0)
    printf(" %d %d\n", (set.sa_flags & SA_ONSTACK) != 0, signal(SIGUSR2, SIG_IGN) == handler);
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_handler = handler};
  if (argc < 2 || sigaction(SIGUSR1, &action, NULL) != 0 || nth_init(NULL) != NTH_OK)
    return 1;
  if (nth_run((void (*)())root, 1, (long)argv[1]) != NTH_OK)
    return 1;
  return nth_finalize() != NTH_OK;
}
