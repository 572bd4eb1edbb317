#pragma once
// What `mxact compare` says of a base and of what was made of it.

#include <string>

#include "checkpoint/maker/makers.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// What is known of one matrix's maker: "exact" rules, the "nearest", blocks that "differing", the first place, what explains it, "lossless".
Json made_by_json(const checkpoint::MadeBy& made);

/// Exit code 0: a rule gives every matrix, or its numbers are the base's, and all else is the base's; 1: not; 5: nothing was compared.
Document makers_document(const checkpoint::Makers& makers, const std::string& base, const std::string& quantized);

}  // namespace mx::verbs
