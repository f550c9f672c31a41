// Kernel threads with the smallest stack that the C library takes.
#ifndef NTH_BENCH_KERNEL_SIDE_HPP
#define NTH_BENCH_KERNEL_SIDE_HPP

#include "common/harness.hpp"

#include <cstring>
#include <string>

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

namespace bench {

class kernel_attributes {
public:
  kernel_attributes() {
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN)));
  }
  ~kernel_attributes() { pthread_attr_destroy(&a); }
  kernel_attributes(const kernel_attributes &) = delete;
  kernel_attributes &operator=(const kernel_attributes &) = delete;

  pthread_t create(void *(*root)(void *), void *argument) const {
    pthread_t t;
    if (const int e = pthread_create(&t, &a, root, argument); e != 0)
      fail(std::string("pthread_create: ") + strerror(e));
    return t;
  }

private:
  pthread_attr_t a;
};

} // namespace bench

#endif
