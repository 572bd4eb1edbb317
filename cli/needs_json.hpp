#pragma once
// What every kernel needs, as JSON.

#include <span>
#include <string_view>

#include "cli/output.hpp"
#include "model/families/needs.hpp"

namespace mx::cli {

/// Adds what a need says of itself: "of", "statement", "effect", "consequence", "grounds", "source", "reference", and "until", the version that mends
/// it, or null.
void add_need(Json& json, const oracle::KernelNeed& need);

/// Needs of every backend and kernel class of these oracles, without those of what surrounds the kernel (exchange, loader), as schema mxact-needs/1.
/// Throws Error(usage) for an oracle that is not known.
Json needs_json(Engine engine, std::span<const std::string_view> oracles);

/// The same as a table on stdout: a line for each need.
void print_needs(const Json& json);

}  // namespace mx::cli
