#include "model/families/carried.hpp"

#include <array>

#include "model/families/libraries.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

using Name = std::string_view;

/// A library whose release the version asks for, and which was not held against the one that was run.
struct ChangedLibrary {
  deployment::Versions engines;
  Name name;
  Name change;
  Name source;
};
// The converters of 7ca49fbe4 and 0.33.0 (4ba787ec9), and the functions of FlashInfer 0.6.17 and 0.7.2.post1 that they call, were held against each
// other, function by function: rows say what changed.
constexpr std::array kLibraries{
    ChangedLibrary{deployment::since(deployment::kVllm2026_11), "deepgemm", "DeepGEMM 2.8.1, whose transform of the scales was not compared",
                   "vllm/third_party/deep_gemm"},
    ChangedLibrary{deployment::since(deployment::kVllm2026_11), "triton_kernels", "layouts of triton_kernels 3.8",
                   "vllm/model_executor/layers/quantization/utils/mxfp4_utils.py _swizzle_mxfp4"},
    ChangedLibrary{deployment::since(deployment::kVllm2026_11), "aiter", "AITER's release, which was not compared", "no wheel requires one"},
};

}  // namespace

deployment::Engine standing_engine(deployment::Engine engine) {
  deployment::Engine last = kConversionEngines.front();
  for (const deployment::Engine one : kConversionEngines) {
    if (one <= engine) last = one;
  }
  return last;
}

StandingConversion conversion_at(Name backend, layout::WeightFormat format, deployment::Engine engine) {
  StandingConversion conversion{.of = standing_engine(engine)};
  conversion.row = find_backend_layout(backend, format, conversion.of);
  if (conversion.row == nullptr || conversion.of == engine || fault::planted(fault::Fault::carried_changes_forgotten)) return conversion;
  if (const ChangedConversion& changed = conversion.row->changed; !changed.what.empty() && engine >= changed.since) {
    conversion.changed = changed.what;
    conversion.source = changed.source;
    return conversion;
  }
  for (const ChangedLibrary& row : kLibraries) {
    if (!row.engines.has(engine) || row.name != conversion.row->calls_library) continue;
    conversion.changed = row.change;
    conversion.source = row.source;
  }
  return conversion;
}

std::vector<std::string> carried_libraries(const StandingConversion& conversion, deployment::Engine engine) {
  std::vector<std::string> named;
  if (conversion.row == nullptr || conversion.of == engine) return named;
  for (const Library& library : libraries()) {
    const Name asked = asked_release(library, engine);
    if (library.name == conversion.row->calls_library && !library.key.empty() && !asked.empty())
      named.push_back(std::string(library.name) + "=" + std::string(asked));
  }
  return named;
}

std::string standing_text(const StandingConversion& conversion, deployment::Engine engine) {
  if (conversion.row == nullptr) return "no layout";
  if (conversion.is_own(engine)) return {};
  const std::string run = "run at " + std::string(deployment::name_of(conversion.of));
  if (conversion.changed.empty()) {
    std::string text = run + ", reads the same";
    for (const std::string& library : carried_libraries(conversion, engine)) text += ", with " + library;
    return text;
  }
  return run + ", changed since: " + std::string(conversion.changed);
}

}  // namespace mx::families
