// The operation `moe`: one mixture-of-experts layer.

#include "golden/witness/ops.hpp"

namespace mx::golden {

ModelOutputs evaluate_moe(const OpContext& context) {
  Fields params(context.entry.params, "params", context.entry.where);
  const std::string compute = params.text("compute");
  throw Unmodelled("no model of moe with compute " + compute);
}

}  // namespace mx::golden
