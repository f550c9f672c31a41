// Pieces: stacks and descriptors. Each stays its birth rank's, whose part of the area it lies in (memory/area.hpp), and
// is lent to the rank where its thread is. When the thread ends abroad they go home in chains of 64, one message each:
//
//   rank 1's part | stack | ...      thread made on rank 1, ends on rank 0
//                     ^-------------- chain for rank 1: | n | address | address | ... |   --message-->  its free list
//
// (paper 001's chains for a home, between processes; design.md, section 7)
#pragma once

namespace nth::detail::cluster {

// False: no memory for the chains.
bool open_pieces() noexcept;
void close_pieces() noexcept;

// The thread that had it has ended here; it belongs to another rank. By any kernel thread.
void return_piece(void *object) noexcept;
// Sends chains that are not full. True: there were some.
bool send_pieces() noexcept;
long pieces_under_way() noexcept; // in chains here

} // namespace nth::detail::cluster
