#pragma once
// Memory of a call: a program that links allocations.cpp has every operator new of it counted.

#include <cstddef>
#include <functional>

namespace mx::tests {

/// Most bytes that were allocated at one time during the call, beyond those before it.
std::size_t peak_of(const std::function<void()>& call);

}  // namespace mx::tests
