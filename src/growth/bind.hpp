#pragma once

namespace nth::detail {

// Binds what libraries that the program began with call in each other, where that was left to the first call: the
// loader's way of finding a function takes some KiB of the caller's stack, which no need counts. (The program itself is
// linked with -z now.) What dlopen brings later runs on segments that are large enough. And leads longjmp, by whatever
// library or pointer it is called, through nth_growth_longjmp.
void bind_libraries() noexcept;

} // namespace nth::detail
