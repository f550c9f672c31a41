// Slots that this rank lacks: the negotiator over the transport, and the threads that wait for it.
#pragma once

#include "cluster/negotiate.hpp"

namespace nth::detail::cluster {

// The slots are open, messages may be sent. False: no memory.
bool open_purchases(slot prebuy) noexcept;
void close_purchases() noexcept;
negotiation_numbers count_purchases() noexcept;
// Waits for the end of a regrouping that begins here.
taking regroup() noexcept;
bool purchases_at_rest() noexcept;

} // namespace nth::detail::cluster
