// Spawned calls of one kind, synced from the last to the first. They lie in the frame of their parent, or on the
// heap if they may be more than `in_frame`.
#ifndef NTH_BENCH_SPAWNED_ARRAY_HPP
#define NTH_BENCH_SPAWNED_ARRAY_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <nth/spawn.hpp>

namespace bench {

template <class Call, int in_frame>
class spawned_array {
public:
  explicit spawned_array(int most = in_frame) {
    if (most > in_frame) {
      heap = std::make_unique_for_overwrite<slot[]>(static_cast<std::size_t>(most));
      at = heap.get();
    }
  }
  spawned_array(const spawned_array &) = delete;
  spawned_array &operator=(const spawned_array &) = delete;

  bool empty() const { return used == 0; }

  void spawn(Call call) { new (at[used++].bytes) task(std::move(call)); }

  auto sync_last() {
    task *const last = std::launder(reinterpret_cast<task *>(at[--used].bytes));
    auto value = last->sync();
    std::destroy_at(last);
    return value;
  }

private:
  using task = decltype(nth::spawned(std::declval<Call>()));
  struct slot {
    alignas(task) std::byte bytes[sizeof(task)];
  };

  int used = 0;
  slot frame[in_frame];
  slot *at = frame;
  std::unique_ptr<slot[]> heap;
};

} // namespace bench

#endif
