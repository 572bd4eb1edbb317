#pragma once
// The rules of the mxfp4 oracle, stated a second time for the laws: shares no code with model/oracle.
// Source: vllm oracle/mxfp4.py, as described for users of moe_backend and of the environment variables.

#include <cstdint>
#include <span>
#include <string_view>

namespace mx::props {

/// A backend, the activation key that it owns, and the multiples its sizes are rounded up to (on ROCm where that differs).
struct RestatedBackend {
  std::string_view name;
  std::string_view own_key;
  std::int64_t hidden;
  std::int64_t intermediate;
  std::int64_t hidden_on_rocm;
  std::int64_t intermediate_on_rocm;
};
std::span<const RestatedBackend> restated_backends();
const RestatedBackend* restated_backend(std::string_view name);

/// True when the value of moe_backend may end in that backend.
bool wish_means(std::string_view wish, std::string_view backend);

/// Backends that an unspecific request walks, best first.
std::span<const std::string_view> restated_priority();

}  // namespace mx::props
