#pragma once
// What `mxact encode` and `mxact decode` say: single values, with everything about them.

#include <string>
#include <vector>

#include "model/numerics/profile.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// As it was typed; empty: not given.
struct EncodeRequest {
  std::string format;
  std::vector<std::string> values;
  std::string source = "f32";
  std::string profile = std::string(kOcp);
  std::string rounding;  ///< refuse a profile that rounds in another way
  std::string overflow;
  std::vector<std::string> random;        ///< one number, or one for each value
  std::vector<std::string> random_words;  ///< in its place: words that neighbours share
};
/// Throws Error(usage) for a name, value or option that does not fit.
Document encode_document(const EncodeRequest& request);

/// As it was typed; empty: not given.
struct DecodeRequest {
  std::string format;  ///< with a scale a block format
  std::vector<std::string> codes;
  std::string scale;
  std::string profile;  ///< whose dequantization; none: the exact product
  std::string target = "f32";
  std::string global_scale;
  std::string tensor_scale;
};
/// Codes alone, or codes of a block under one scale. Throws as encode_document does.
Document decode_document(const DecodeRequest& request);

}  // namespace mx::verbs
