#pragma once
// The form in which a kernel is handed a packed tensor, as the tags keep it: a reader that has the bytes makes the tensor by it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/families/memory.hpp"
#include "support/json.hpp"

namespace mx::checkpoint {

struct KernelTag {
  std::string dtype;                  ///< as torch names it
  std::vector<std::int64_t> shape;    ///< slowest axis first, where nothing is transposed
  std::vector<std::int64_t> strides;  ///< in elements
  friend bool operator==(const KernelTag&, const KernelTag&) = default;
};

/// None where no source says the form.
std::optional<KernelTag> kernel_tag(const families::BackendLayout& row, layout::Role role, const families::Setting& setting);

/// {"dtype", "shape", "strides"}, and back. Reading throws Error(input) naming `where`.
support::Json json_of(const KernelTag& tag);
KernelTag read_kernel_tag(const support::Json& json, const std::string& where);

/// "int32 [8, 16, 1024]", with strides where axes do not lie one behind the other.
std::string text_of(const KernelTag& tag);

}  // namespace mx::checkpoint
