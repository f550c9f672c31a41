// This process as a rank: what the parts of cluster/ share.
#pragma once

namespace nth::detail::cluster {

bool is_up() noexcept;

} // namespace nth::detail::cluster
