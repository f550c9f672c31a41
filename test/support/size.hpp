// How much a test does: NTH_TEST_SIZE is "ci" (the default) or "full"; ThreadSanitizer gets its own share.
#pragma once

#include <cstdlib>
#include <cstring>

#if !defined(NTH_TSAN) && defined(__SANITIZE_THREAD__)
#define NTH_TSAN 1
#endif
#if !defined(NTH_TSAN) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NTH_TSAN 1
#endif
#endif

namespace nth::test {

#ifdef NTH_TSAN
constexpr bool under_tsan = true;
#else
constexpr bool under_tsan = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
constexpr bool under_asan = true; // frames are larger, and faults are reported by the sanitizer
#else
constexpr bool under_asan = false;
#endif

inline bool full_size() {
  const char *size = std::getenv("NTH_TEST_SIZE");
  return size != nullptr && std::strcmp(size, "full") == 0;
}

inline long pick_size(long tsan, long ci, long full) { return under_tsan ? tsan : full_size() ? full : ci; }

} // namespace nth::test
