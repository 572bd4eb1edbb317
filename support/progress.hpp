#pragma once
// How far long work has come.

#include <cstdint>
#include <functional>
#include <string>

namespace mx::support {

/// Called with a phrase, the bytes done and all bytes there are to do.
using Progress = std::function<void(const std::string& what, std::uint64_t done, std::uint64_t total)>;

}  // namespace mx::support
