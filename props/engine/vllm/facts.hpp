#pragma once
// A deployment as the engine's Python sees it, read for the restatement of the oracles. Nothing here comes from the model but the plain data of a
// deployment. Source: vllm 7e1b45a09 (2026-05), 7ca49fbe4 (2026-08) and 4ba787ec9 (2026-11) envs.py, platforms/, fused_moe/config.py
// FusedMoEParallelConfig.

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"

namespace mx::props {

/// An exception of the engine.
struct EngineError {
  std::string type;
};

/// True when the text, words with blanks between, has the word.
bool has_word(std::string_view text, std::string_view word);
std::vector<std::string_view> texts_of(std::string_view text);

struct Facts {
  Facts(deployment::Engine engine, const deployment::Deployment& deployment);

  deployment::Engine engine;
  const deployment::Deployment& deployment;
  std::string_view weight;      ///< keys that a class is asked about
  std::string_view activation;  ///< the same
  int ep_size;
  bool exchanges;  ///< tokens travel between ranks

  bool is(std::string_view platform) const;
  int capability() const;  ///< 0: none
  bool family(int of) const { return capability() / 10 == of / 10; }
  bool cuda(int exactly) const { return is("cuda") && capability() == exactly; }
  bool cuda_family(int of) const { return is("cuda") && family(of); }
  bool gfx(std::string_view any_of) const;
  /// The all2all backend is one of these, and is used.
  bool exchange_is(std::string_view any_of) const;
  bool batched() const { return exchange_is("deepep_low_latency nixl_ep"); }
  bool flashinfer_nvlink() const { return exchange_is("flashinfer_all2allv flashinfer_nvlink_two_sided flashinfer_nvlink_one_sided"); }
  bool fp8_blocks() const { return keys_are("kFp8Static128BlockSym", "kFp8Dynamic128Sym"); }
  bool keys_are(std::string_view weights, std::string_view activations) const;

  bool is_set(std::string_view variable) const { return deployment.env.contains(std::string(variable)); }
  /// bool(int(text)); throws EngineError ValueError for what is no integer.
  bool integer(std::string_view variable, bool otherwise = false) const;
  /// text.lower() in ("1", "true")
  bool word(std::string_view variable, bool otherwise = false) const;
  /// AITER is found, switched on and runs here, its fused experts included.
  bool fused_aiter() const;
};

}  // namespace mx::props
