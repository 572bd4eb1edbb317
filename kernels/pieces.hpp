#pragma once
// Work cut into pieces for several threads.

#include <cstddef>
#include <functional>

namespace mx::kernels {

/// Calls work(i) for every i below `count`, on so many threads, the caller's one of them, each taking the next piece when it has done one: who is
/// held up by other work on the machine does fewer. Nobody waits by spinning. The caller does the first piece alone, and starts no more threads than
/// the rest is worth by that piece's time. When calls throw, the rest is done all the same, and what the first of the pieces threw is thrown behind
/// them: the answer does not depend on the threads.
void for_each_piece(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace mx::kernels
