// Before the tables are registered: in order.
#include "nth/growth.h"

#include <algorithm>

static_assert(NTH_STUB_ENTRY == 1 && NTH_STUB_SETCONTEXT == 16 && NTH_STUB_SWAPCONTEXT == 32 &&
                  NTH_STUB_BY_SITE == 8 && NTH_STUB_GUARDED == 2 && NTH_STUB_LONGJMP == 4 &&
                  NTH_NEED_BLOCKS == 1 && NTH_NEED_ASSUMED == 2 && NTH_NEED_UNBOUNDED == 4 &&
                  NTH_NEED_GUARDED == 8,
              "pool.inc knows them");

extern "C" nth_growth_header nth_growth_program;

namespace {

template <class T>
T *at(int place) {
  return reinterpret_cast<T *>(reinterpret_cast<char *>(&nth_growth_program) + place);
}

[[gnu::constructor(101)]] void sort_tables() {
  const nth_growth_header &h = nth_growth_program;
  auto *need = at<nth_growth_need>(h.need_at);
  std::sort(need, need + h.needs, [](const auto &a, const auto &b) { return a.function < b.function; });
  auto *site = at<nth_growth_site>(h.site_at);
  std::sort(site, site + h.sites, [](const auto &a, const auto &b) { return a.return_to < b.return_to; });
}

} // namespace
