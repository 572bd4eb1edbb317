#pragma once
// A layer as one of several ranks has it.

#include "model/layout/packed.hpp"
#include "model/layout/tensor.hpp"

namespace mx::verbs {

/// What the engine loads onto the first of `tp` ranks of a layer of these sizes: equal parts of I, of gpt-oss' MXFP4 in whole blocks of 32, so that
/// the last ranks may be short. Throws Error(usage) where I does not divide, as the engine asserts, and where a part holds no whole groups or blocks
/// of scales.
layout::Sizes rank_sizes(const layout::Sizes& whole, const layout::Form& form, int tp);

/// A rank's part of a layer in those sizes, zeros behind the last rank's; the bias of w2 is on every rank. Throws as rank_sizes does, and
/// Error(usage) for a rank that is not there.
layout::CanonicalLayer rank_layer(const layout::CanonicalLayer& whole, int rank, int tp);

}  // namespace mx::verbs
