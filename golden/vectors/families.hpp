#pragma once
// Every operation, by name. A family is a row: what its names look like, which choices it takes, how its operations are made.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"

namespace mx::golden {

struct OpFamily {
  std::string_view name;     ///< folder of its files: "cast"
  std::string_view pattern;  ///< "SOURCE_to_TARGET"
  std::string_view summary;
  std::vector<std::string> (*names)();
  /// Null when the name is not one of the family's. Throws Error(usage) for formats that do not exist and choices that do not fit.
  std::unique_ptr<VectorOp> (*make)(std::string_view name, const OpOptions& options);
};
std::span<const OpFamily> all_op_families();

/// The operation of that name. Throws Error(usage) with the nearest name, and as the family's `make` does.
std::unique_ptr<VectorOp> op_named(std::string_view name, const OpOptions& options);

}  // namespace mx::golden
