#pragma once
// Operations of IEEE P3109 as vectors: "Divide<Binary8p4se,Binary8p4se,Binary8p3se,(NearestTiesToEven,SatNone)>".

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"

namespace mx::golden {

/// Those of the minimum set on numbers, each in one of its formats.
std::vector<std::string> p3109_names();
/// Null for a name without '<'. Throws Error(usage) as specialization_of does, and for operations on blocks and facts of formats.
std::unique_ptr<VectorOp> make_p3109(std::string_view name, const OpOptions& options);

}  // namespace mx::golden
