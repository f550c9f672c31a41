#include "code/frequency.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

constexpr double goes_on = 0.88;  // a loop
constexpr double is_cold = 0.001; // a call that ends the program, or lies in a fragment
constexpr double most = 1e6;
constexpr int most_rounds = 300; // two loops, one in the other, take some 200
constexpr double settled = 0.001;
constexpr std::size_t most_loops = 2000; // of a function; beyond, all branches count as even

struct way {
  std::uint32_t to = 0;
  double share = 0;
};

class estimator {
public:
  explicit estimator(const depth_analysis &d) : d_(d), blocks_(d.ways.blocks) {
    find_ways();
    order_from_entry();
    find_loops();
    share_out();
  }

  // Of each block, with 1 for the entry. Blocks in the order of a depth-first search: what a loop adds comes round after
  // round.
  [[nodiscard]] std::vector<double> run() const {
    std::vector<double> often(blocks_.size(), 0);
    bool changes = true;
    for (int round = 0; changes && round < most_rounds; ++round) {
      std::vector<double> next(blocks_.size(), 0);
      changes = false;
      if (!order_.empty())
        next[order_.front()] = 1;
      for (const std::uint32_t b : order_) {
        // Ways back were fed by the round before.
        for (const auto &[from, share] : back_into_[b])
          next[b] += often[from] * share;
        next[b] = std::min(next[b], most);
        changes = changes || next[b] - often[b] > settled * next[b];
        for (const way &w : ways_[b])
          if (place_[w.to] > place_[b])
            next[w.to] += next[b] * w.share;
      }
      often = std::move(next);
    }
    return often;
  }

private:
  void find_ways() {
    ways_.resize(blocks_.size());
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (d_.reached[b] == 0)
        continue;
      for (const std::uint32_t to : blocks_[b].ways)
        ways_[b].push_back({to, 0});
      if (blocks_[b].next != no_block)
        ways_[b].push_back({blocks_[b].next, 0});
    }
  }

  void order_from_entry() {
    place_.assign(blocks_.size(), no_block);
    std::vector<std::uint8_t> seen(blocks_.size());
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    if (blocks_.empty())
      return;
    path.emplace_back(0, 0);
    seen[0] = 1;
    while (!path.empty()) {
      auto &[b, next] = path.back();
      if (next == ways_[b].size()) {
        order_.push_back(b);
        path.pop_back();
      } else if (const std::uint32_t to = ways_[b][next++].to; seen[to] == 0) {
        seen[to] = 1;
        path.emplace_back(to, 0);
      }
    }
    std::reverse(order_.begin(), order_.end());
    for (std::uint32_t i = 0; i < order_.size(); ++i)
      place_[order_[i]] = i;
  }

  // Of each way back, what it goes round: whatever leads to its end without passing its beginning.
  void find_loops() {
    std::vector<std::vector<std::uint32_t>> before(blocks_.size());
    for (const std::uint32_t b : order_)
      for (const way &w : ways_[b])
        before[w.to].push_back(b);
    loops_of_.resize(blocks_.size());
    std::uint32_t loop = 0;
    std::vector<std::uint32_t> work;
    for (const std::uint32_t b : order_)
      for (const way &w : ways_[b]) {
        if (place_[w.to] > place_[b] || loop == most_loops)
          continue;
        loops_of_[w.to].push_back(loop);
        work = {b};
        while (!work.empty()) {
          const std::uint32_t in = work.back();
          work.pop_back();
          if (!loops_of_[in].empty() && loops_of_[in].back() == loop)
            continue;
          loops_of_[in].push_back(loop);
          work.insert(work.end(), before[in].begin(), before[in].end());
        }
        ++loop;
      }
  }

  [[nodiscard]] bool leaves_a_loop(std::uint32_t from, std::uint32_t to) const {
    return std::any_of(loops_of_[from].begin(), loops_of_[from].end(), [&](std::uint32_t loop) {
      return !std::binary_search(loops_of_[to].begin(), loops_of_[to].end(), loop);
    });
  }

  void share_out() {
    back_into_.resize(blocks_.size());
    for (const std::uint32_t b : order_) {
      std::size_t leaving = 0;
      for (const way &w : ways_[b])
        leaving += leaves_a_loop(b, w.to) ? 1 : 0;
      const std::size_t staying = ways_[b].size() - leaving;
      for (way &w : ways_[b]) {
        const bool leaves = leaves_a_loop(b, w.to);
        const double part = leaving == 0 || staying == 0 ? 1 : leaves ? 1 - goes_on : goes_on;
        w.share = part / static_cast<double>(leaves ? leaving : staying);
        if (place_[w.to] <= place_[b])
          back_into_[w.to].emplace_back(b, w.share);
      }
    }
  }

  const depth_analysis &d_;
  const std::vector<block> &blocks_;
  std::vector<std::vector<way>> ways_;
  std::vector<std::vector<std::pair<std::uint32_t, double>>> back_into_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> place_;
  std::vector<std::vector<std::uint32_t>> loops_of_; // ascending
};

} // namespace

void estimate_frequencies(const depth_analysis &d, const std::vector<std::uint32_t> &block_of_call,
                          std::vector<call_site> &calls) {
  if (block_of_call.empty())
    return;
  const std::vector<double> often = estimator(d).run();
  for (std::size_t i = 0; i < block_of_call.size(); ++i)
    calls[i].frequency = static_cast<float>(often[block_of_call[i]] * (calls[i].cold ? is_cold : 1));
}

} // namespace nth::stack
