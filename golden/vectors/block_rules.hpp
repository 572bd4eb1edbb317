#pragma once
// What a device does on the way from a block to its scale and codes that no recipe does.

#include <vector>

#include "golden/vectors/block_subject.hpp"

namespace mx::golden {

/// Rules of scale_FORMAT: the largest value goes through a narrower format first.
std::vector<WrongRule> scale_step_rules(const BlockSubject& subject);
/// Rules of quantize_FORMAT: the same; codes made with the scale before it was rounded; a reciprocal that overflows.
std::vector<WrongRule> block_step_rules(const BlockSubject& subject);

}  // namespace mx::golden
