#pragma once
// Holding what others wrote to the laws: a conversion of numbers, a converter of layers, an oracle. Each is a few functions that call it; the laws
// that apply are run as ours are, with the same generators, shrinking and replays. docs/examples/laws.cpp is a whole program.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "model/numerics/convert.hpp"
#include "props/program.hpp"

namespace mx::props {

/// A conversion of fp32 numbers into a format of at most 16 bits.
struct ConversionSubject {
  std::string name;
  const Format* format;                                     ///< a row of all_formats()
  Conversion rule;                                          ///< what it is meant to do: any rounding but a stochastic one, NanRule::fixed
  std::function<std::uint32_t(std::uint32_t f32)> encode;   ///< fp32 bits -> code
  std::function<std::uint32_t(std::uint32_t code)> decode;  ///< code -> fp32 bits; empty where there is none
};
/// N1: decoding gives the number of a code, encoding that number the code (with `decode`). N2: numbers in the format's range are rounded as the rule
/// says. N3: overflow, Inf, NaN and zero. N4: of E8M0, each of the 256 bytes (with `decode`). A function that throws breaks the law.
/// Throws Error(usage) for a rule or a format that the laws do not know.
std::vector<HeldLaw> laws_of(const ConversionSubject& subject);

/// Bytes of a layer's tensors, indexed by layout::Role; empty where there is none.
using LayerBytes = std::array<std::vector<std::uint8_t>, layout::kRoleCount>;

/// A converter of a layer's tensors into what a backend reads.
struct ConverterSubject {
  std::string name;
  std::string backend;  ///< with format and engine a row of families::all_backend_layouts()
  layout::WeightFormat format;
  deployment::Engine engine;
  /// Checkpoint bytes (layout::canonical of each role) -> packed bytes.
  std::function<LayerBytes(const LayerBytes& source, const families::Setting& setting)> convert;
  /// The way back; empty where there is none.
  std::function<LayerBytes(const LayerBytes& packed, const families::Setting& setting)> restore = nullptr;
};
/// L1: sizes are those of the documents. L2: every unit lies where the documents' formulas have it, and padding holds what they say; not for a
/// backend that changes values across units. L4: what padding holds does not matter to `restore`. L7: restore(convert(x)) = x. A function that throws
/// breaks the law. Throws Error(usage) for a backend that no table has.
std::vector<HeldLaw> laws_of(const ConverterSubject& subject);

/// What an oracle answers: the name of a backend, or why there is none.
struct OracleAnswer {
  std::string backend;
  std::string refusal;  ///< exactly one of the two is empty
};
/// An oracle.
struct OracleSubject {
  std::string name;
  std::string oracle;  ///< whose decisions it is meant to make: a name of engine::oracle_names(mx::kVllm2026_05)
  std::function<OracleAnswer(const deployment::Deployment& deployment)> choose;
};
/// O4: every deployment has a backend of the oracle's or a refusal with a reason. O2: a wish is met or refused. O1: some class of what is chosen
/// takes the layer. O3: the answer is that of the engine's search. A function that throws breaks the law. Throws Error(usage) for an unknown oracle.
std::vector<HeldLaw> laws_of(const OracleSubject& subject);

}  // namespace mx::props
