#include "kernels/pieces.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "model/ordinary_mode.hpp"

namespace mx::kernels {
namespace {

/// Work that a thread must have before its start is worth it; a start takes half of that.
constexpr std::chrono::duration<double, std::micro> kStart{40};

/// Pieces that are taken one by one, and what the first of them threw.
class Pieces {
 public:
  Pieces(std::size_t count, const std::function<void(std::size_t)>& work) : count_(count), work_(work), thrown_by_(count) {}

  /// So many, or until there are no more.
  void work(std::size_t most) {
    const OrdinaryMode mode;
    for (std::size_t left = most; left > 0; --left) {
      const std::size_t i = next_++;
      if (i >= count_) return;
      try {
        work_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (i >= thrown_by_) continue;
        thrown_by_ = i;
        thrown_ = std::current_exception();
      }
    }
  }

  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t thrown_by_;
  std::exception_ptr thrown_;
};

}  // namespace

void for_each_piece(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  using Clock = std::chrono::steady_clock;
  Pieces pieces(count, work);
  {
    std::vector<std::jthread> helpers;
    if (count > 1 && threads > 1) {
      const Clock::time_point began = Clock::now();
      pieces.work(1);
      const auto worth = static_cast<std::size_t>((Clock::now() - began) / kStart * static_cast<double>(count - 1));
      const std::size_t wanted = std::min({static_cast<std::size_t>(threads) - 1, count - 1, worth});
      try {
        while (helpers.size() < wanted) helpers.emplace_back([&] { pieces.work(count); });
      } catch (const std::system_error&) {  // the system has no more threads: fewer do the same
      }
    }
    pieces.work(count);
  }
  pieces.rethrow();
}

}  // namespace mx::kernels
