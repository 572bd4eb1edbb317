#include "golden/vectors/families.hpp"

#include <array>

#include "golden/vectors/conversion_op.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::golden {
namespace {

constexpr std::array kFamilies{
    OpFamily{"cast", "SOURCE_to_TARGET", "a code of one format into another", conversion_names, make_conversion},
};

}  // namespace

std::span<const OpFamily> all_op_families() { return kFamilies; }

std::unique_ptr<VectorOp> op_named(std::string_view name, const OpOptions& options) {
  for (const OpFamily& family : kFamilies) {
    if (std::unique_ptr<VectorOp> op = family.make(name, options)) return op;
  }
  std::vector<std::string> names;
  for (const OpFamily& family : kFamilies) {
    for (std::string& known : family.names()) names.push_back(std::move(known));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  std::vector<std::string_view> patterns;
  for (const OpFamily& family : kFamilies) patterns.push_back(family.pattern);
  throw Error(ErrorCode::usage, unknown_name("operation", name, nearest_name(name, known).empty() ? patterns : known));
}

}  // namespace mx::golden
