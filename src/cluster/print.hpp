// nth_printf: lines of all ranks, written by rank 0.
#pragma once

namespace nth::detail::cluster {

void open_print() noexcept;
// Lines of other ranks are read with the lock of progress held, and written without it: standard output may block. True:
// there were some.
bool write_waiting_lines() noexcept;

} // namespace nth::detail::cluster
