#pragma once
// Checks of single expert classes, beside those that all classes share.

#include <string>
#include <string_view>

#include "model/engine/vllm/check.hpp"

namespace mx::engine {

/// A subject whose class has been found.
struct Case {
  const Subject& subject;
  const KernelClass& row;
  const Query& query;
};

/// The code of the refusal, as recorded; empty when the rule is met. Points to static storage.
std::string_view refusal_of(LayerRule rule, const Case& it);
/// For people: what the class wants.
std::string_view text_of(LayerRule rule);

/// The GEMM type that the environment and, since 2026-11, expert parallelism prefer; not_humming when they name one that does not exist.
HummingGemm preferred_gemm(const Query& query);

}  // namespace mx::engine
