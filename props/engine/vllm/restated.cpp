#include "props/engine/vllm/restated.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace mx::props {
namespace {

using Text = std::string_view;
using Texts = std::vector<Text>;

constexpr Text kMxfp4Oracle = "mxfp4 mxfp4_deepseek_v4";
constexpr Text kNvfp4Flashinfer = "FLASHINFER_TRTLLM FLASHINFER_CUTLASS FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X";

/// What a search has found.
struct Found {
  Text backend;
  Text kernel_class;
};

[[noreturn]] void raise(const char* type) { throw EngineError{type}; }

/// One oracle asked about one deployment. The functions are named after what the engine does; `key` is that of the activations.
class Search {
 public:
  Search(Text oracle, const deployment::Deployment& deployment) : oracle_(oracle), f_(kSearched, deployment), wish_(deployment.layer.moe_backend) {
    if (has_word(kMxfp4Oracle, oracle)) f_.weight = "kMxfp4Static";
    if (oracle == "mxfp8") {
      f_.weight = "kMxfp8Static";
      f_.activation = "kMxfp8Dynamic";
    }
  }

  Found run() {
    if (oracle_ == "mxfp4") return mxfp4();
    if (oracle_ == "mxfp4_deepseek_v4") return deepseek_v4();
    if (oracle_ == "nvfp4") return nvfp4();
    if (oracle_ == "fp8") return fp8();
    if (oracle_ == "mxfp8") return mxfp8();
    if (const auto found = first_class("CUTLASS", f_.activation)) return *found;
    raise("NotImplementedError");
  }

 private:
  static Text requested_key(const deployment::Deployment& d) {
    struct Override {
      Text word, key;
    };
    constexpr std::array<Override, 8> kOverrides = {{{"fp8_per_tensor_static", "kFp8StaticTensorSym"},
                                                     {"fp8_per_tensor_dynamic", "kFp8DynamicTensorSym"},
                                                     {"fp8_per_token", "kFp8DynamicTokenSym"},
                                                     {"fp8_per_block_static", "kFp8Static128BlockSym"},
                                                     {"fp8_per_block_dynamic", "kFp8Dynamic128Sym"},
                                                     {"mxfp8", "kMxfp8Dynamic"},
                                                     {"mxfp4", "kMxfp4Dynamic"},
                                                     {"int8_per_channel_static", "kInt8StaticChannelSym"}}};
    const auto row = std::find_if(kOverrides.begin(), kOverrides.end(), [&](const Override& o) { return o.word == d.quantization_override; });
    if (row == kOverrides.end()) return d.activation_key;
    if (d.activation_key != "None" && d.activation_key != row->key) raise("ValueError");
    return row->key;
  }

  std::optional<Found> first_class(Text backend, Text key) {
    if (backend == "HUMMING" && !f_.deployment.software.humming_installed) raise("ModuleNotFoundError");
    Facts asked = f_;
    asked.activation = key;
    for (Text name : texts_of(restated_backend(oracle_, backend)->classes)) {
      const std::string failure = restated_verdict(name, asked);
      if (failure.starts_with("exc:")) throw EngineError{failure.substr(4)};
      if (failure.empty()) return Found{backend, name};
    }
    return std::nullopt;
  }

  Found attempt(Text backend, Text key) {
    if (const auto found = first_class(backend, key)) return *found;
    raise("ValueError");
  }

  /// Own keys, or the one of all.
  Found attempt_each(const Texts& backends, Text key_of_all) {
    if (backends.empty()) raise("ValueError");
    for (Text backend : backends) {
      try {
        return attempt(backend, key_of(backend, key_of_all));
      } catch (const EngineError& error) {
        if (error.type != "ValueError" || backend == backends.back()) throw;
      }
    }
    raise("ValueError");
  }

  std::optional<Found> walk(const Texts& backends, Text key_of_all) {
    for (Text backend : backends) {
      if (const auto found = first_class(backend, key_of(backend, key_of_all))) return found;
    }
    return std::nullopt;
  }

  Text key_of(Text backend, Text key_of_all) const { return key_of_all.empty() ? restated_backend(oracle_, backend)->own_key : key_of_all; }

  Texts wished() const {
    Texts backends;
    for (const RestatedBackend& row : restated_backends()) {
      if (has_word(row.oracles, oracle_) && has_word(row.wishes, wish_))
        backends.push_back(f_.batched() ? batched_member(oracle_, row.name) : row.name);
    }
    if (backends.empty()) raise("ValueError");
    return backends;
  }

  Texts filtered(const Texts& backends, Text key) const {
    Texts kept;
    for (Text backend : backends) {
      if (restated_backend(oracle_, backend)->own_key == key || (key != "None" && backend == "EMULATION")) kept.push_back(backend);
    }
    return kept.empty() && key == "None" ? backends : kept;
  }

  Found mxfp4() {
    const Text key = requested_key(f_.deployment);
    const Text key_of_all = key == "None" ? Text() : key;
    if (wish_ != "auto") return attempt_each(filtered(wished(), key), key_of_all);
    Texts order = filtered(restated_order(oracle_, f_), key);
    if (f_.is_set("VLLM_USE_FLASHINFER_MOE_MXFP4_BF16")) {
      if (f_.integer("VLLM_USE_FLASHINFER_MOE_MXFP4_BF16")) {
        if (f_.capability() == 90) return attempt("FLASHINFER_CUTLASS_MXFP4_BF16", "None");
        if (f_.family(100)) return attempt("FLASHINFER_TRTLLM_MXFP4_BF16", "None");
        raise("ValueError");
      }
      std::erase(order, "FLASHINFER_TRTLLM_MXFP4_BF16");
      std::erase(order, "FLASHINFER_CUTLASS_MXFP4_BF16");
    }
    if (f_.integer("VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8")) return attempt("FLASHINFER_TRTLLM_MXFP4_MXFP8", "kMxfp8Dynamic");
    if (f_.integer("VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS")) return attempt("FLASHINFER_CUTLASS_MXFP4_MXFP8", "kMxfp8Dynamic");
    if (f_.integer("VLLM_MXFP4_USE_MARLIN")) return attempt("MARLIN", "None");
    if (const auto found = walk(order, key_of_all)) return *found;
    if (f_.is("xpu")) return attempt("XPU", "None");
    if (f_.is("cpu")) return attempt("CPU", "None");
    raise("NotImplementedError");
  }

  Found deepseek_v4() {
    if (wish_ != "auto") return attempt_each(wished(), "");
    if (const auto found = walk(restated_order(oracle_, f_), "")) return *found;
    raise("NotImplementedError");
  }

  /// "CUTLASS", "TENSORRT_LLM" or "CUTEDSL".
  Text variant() const {
    const auto set = f_.deployment.env.find("VLLM_FLASHINFER_MOE_BACKEND");
    const std::string word = set == f_.deployment.env.end() ? "latency" : set->second;
    if (word == "throughput") return "CUTLASS";
    if (word == "masked_gemm") return "CUTEDSL";
    if (word != "latency") raise("ValueError");
    return f_.family(100) ? "TENSORRT_LLM" : "CUTLASS";
  }

  Found nvfp4() {
    const Text key = f_.activation;
    if (wish_ != "auto") return attempt_each(wished(), key);
    if (f_.is_set("VLLM_USE_FLASHINFER_MOE_FP4")) {
      // list.remove(x): x not in list
      if (!f_.integer("VLLM_USE_FLASHINFER_MOE_FP4")) raise("ValueError");
      if (f_.is_set("VLLM_FLASHINFER_MOE_BACKEND")) {
        const Text which = variant();
        return attempt(which == "CUTLASS" ? "FLASHINFER_CUTLASS" : which == "CUTEDSL" ? "FLASHINFER_CUTEDSL" : "FLASHINFER_TRTLLM", key);
      }
      if (const auto found = walk(texts_of(kNvfp4Flashinfer), key)) return *found;
      raise("NotImplementedError");
    }
    if (f_.word("VLLM_TEST_FORCE_FP8_MARLIN")) return attempt("MARLIN", key);
    if (const auto found = walk(restated_order(oracle_, f_), key)) return *found;
    raise("NotImplementedError");
  }

  /// What the variables say about an unspecific request: the answer, or backends that leave the list.
  std::optional<Found> fp8_variables(Texts& order) {
    const Text key = f_.activation;
    if (f_.is_set("VLLM_USE_FLASHINFER_MOE_FP8")) {
      if (f_.integer("VLLM_USE_FLASHINFER_MOE_FP8")) {
        if (f_.is_set("VLLM_FLASHINFER_MOE_BACKEND")) {
          const Text which = variant();
          if (which == "CUTEDSL") raise("ValueError");
          return attempt(which == "CUTLASS" ? "FLASHINFER_CUTLASS" : "FLASHINFER_TRTLLM", key);
        }
        if (const auto found = walk({"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"}, key)) return found;
        raise("NotImplementedError");
      }
      std::erase(order, "FLASHINFER_TRTLLM");
      std::erase(order, "FLASHINFER_CUTLASS");
    }
    if (f_.is_set("VLLM_USE_DEEP_GEMM") || f_.is_set("VLLM_MOE_USE_DEEP_GEMM")) {
      if (f_.integer("VLLM_USE_DEEP_GEMM", true) && f_.integer("VLLM_MOE_USE_DEEP_GEMM", true)) {
        return attempt(f_.batched() ? "BATCHED_DEEPGEMM" : "DEEPGEMM", key);
      }
      std::erase(order, "DEEPGEMM");
      std::erase(order, "BATCHED_DEEPGEMM");
    }
    if (f_.word("VLLM_TEST_FORCE_FP8_MARLIN")) return attempt("MARLIN", key);
    if (f_.is_set("VLLM_ROCM_USE_AITER") || f_.is_set("VLLM_ROCM_USE_AITER_MOE")) {
      if (f_.word("VLLM_ROCM_USE_AITER") && f_.word("VLLM_ROCM_USE_AITER_MOE", true)) return attempt("AITER", key);
      std::erase(order, "AITER");
    }
    return std::nullopt;
  }

  Found fp8() {
    const Text key = f_.activation;
    const bool cutlass = f_.deployment.allow_vllm_cutlass;
    if (wish_ != "auto") {
      const Texts backends = wished();
      if (!cutlass && has_word("VLLM_CUTLASS BATCHED_VLLM_CUTLASS", backends[0])) raise("ValueError");
      return attempt_each(backends, key);
    }
    Texts order = restated_order(oracle_, f_);
    if (const auto found = fp8_variables(order)) return *found;
    if (!cutlass) {
      std::erase(order, "VLLM_CUTLASS");
      std::erase(order, "BATCHED_VLLM_CUTLASS");
    }
    if (const auto found = walk(order, key)) return *found;
    if (f_.is("cuda") || f_.is("rocm")) raise("NotImplementedError");
    return {"NONE", ""};
  }

  Found mxfp8() {
    if (wish_ != "auto") return attempt_each(wished(), f_.activation);
    if (const auto found = walk(restated_order(oracle_, f_), f_.activation)) return *found;
    raise("ValueError");
  }

  Text oracle_;
  Facts f_;
  Text wish_;
};

}  // namespace

std::string restated_verdict(Text oracle, const RestatedBackend& backend, Text kernel_class, const deployment::Deployment& deployment) {
  Facts facts(kSearched, deployment);
  if (has_word(kMxfp4Oracle, oracle)) {
    facts.weight = "kMxfp4Static";
    const bool asked = oracle == "mxfp4" && deployment.activation_key != "None";
    if (!asked) facts.activation = backend.own_key;
  }
  if (oracle == "mxfp8") {
    facts.weight = "kMxfp8Static";
    facts.activation = "kMxfp8Dynamic";
  }
  return restated_verdict(kernel_class, facts);
}

std::vector<RestatedVerdict> restated_support(Text oracle, const deployment::Deployment& deployment) {
  std::vector<RestatedVerdict> verdicts;
  for (const RestatedBackend& row : restated_backends()) {
    if (!has_word(row.oracles, oracle)) continue;
    if (row.name == "HUMMING" && !deployment.software.humming_installed) {
      verdicts.push_back({row.name, "*", "exc:ModuleNotFoundError"});
      continue;
    }
    for (Text name : texts_of(row.classes)) verdicts.push_back({row.name, name, restated_verdict(oracle, row, name, deployment)});
  }
  return verdicts;
}

RestatedAnswer restated_answer(Text oracle, const deployment::Deployment& deployment) {
  RestatedAnswer answer;
  try {
    const Found found = Search(oracle, deployment).run();
    const RestatedBackend* row = restated_backend(oracle, found.backend);
    const deployment::LayerConfig& layer = deployment.layer;
    const RestatedSizes sizes = restated_sizes(oracle, found.backend, Facts(kSearched, deployment), {layer.hidden, layer.intermediate_per_partition});
    answer.backend = found.backend;
    answer.kernel_class = found.kernel_class;
    answer.hidden = sizes.first;
    answer.intermediate = sizes.second;
    answer.global_sf = row->global_sf;
  } catch (const EngineError& error) {
    answer.error_type = error.type;
  }
  return answer;
}

}  // namespace mx::props
