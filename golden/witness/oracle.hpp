#pragma once
// Recorded decisions of the engine's real oracles, one JSON object a line, held against the model's tables.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "support/json.hpp"

namespace mx::golden {

/// What one recorded line shows.
struct CaseResult {
  bool modelled;
  bool equal;
  std::int64_t compared;  ///< values: fields of the result, or verdicts of a support line
  std::string got;        ///< "field: value" of the first difference, or everything when equal
  std::string expected;
  std::string note;  ///< why it is not modelled
};

/// A line of X.jsonl: {"id", "oracle", "inputs", "result"}. An oracle, a key or a word that the model does not know makes the case unmodelled.
/// Throws Error(input) naming the case and the key when the line breaks its form: a key missing, a value of another type.
CaseResult evaluate_oracle_case(const support::Json& one_case);

/// The same case with its line of X_support.jsonl: every verdict counts as one value.
CaseResult evaluate_support_case(const support::Json& one_case, const support::Json& support);

/// A line of X.jsonl: a deployment put to one of the selection oracles, and what the model answers. Throws Error(usage) as oracle::select does.
support::Json oracle_case(const std::string& id, std::string_view oracle, const deployment::Deployment& deployment);

/// Its line of X_support.jsonl.
support::Json support_case(const std::string& id, std::string_view oracle, const deployment::Deployment& deployment);

/// What a case of a selection asks, to be put to other tables.
struct RecordedSelection {
  std::string oracle;
  deployment::Deployment deployment;
};
/// Nothing for a case of a single function. Throws Error(input) as evaluate_oracle_case does, Error(usage) for a word that the model does not know.
std::optional<RecordedSelection> recorded_selection(const support::Json& one_case);

}  // namespace mx::golden
