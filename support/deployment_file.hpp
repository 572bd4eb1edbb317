#pragma once
// A deployment as an INFO file.
//
//   platform SM100                  ; a preset with its software, or hardware { platform cuda  capability 100 }, { platform rocm  gcn_arch gfx950 }
//   parallel { tp 2  pcp 1  dp 1  sp 1  expert_parallel false  all2all allgather_reducescatter  eplb false }
//   layer { experts 128  top_k 4  hidden 2880  intermediate 2880  activation SWIGLUOAI  routing Renormalize  dtype bfloat16
//           bias true  act_and_mul true  lora false }
//   oracle mxfp4                    ; which of an engine's oracles is asked
//   backend auto                    ; moe_backend
//   weight_key kNvfp4Static         ; of the checkpoint, for the oracles that take it from their caller
//   activation_key None             ; what the checkpoint declares
//   quantization_override unset     ; quantization_config.moe.activation, for oracle mxfp4
//   allow_vllm_cutlass false        ; argument of oracle fp8
//   env { VLLM_MXFP4_USE_MARLIN 1 }
//   software { has_flashinfer false }
//   launch { block_m 16  w2.step_k 64 }   ; numbers of the kernels' launch, for what is executed; tuned FILE: the engine's tiles
//
// These and the keys that kernels alone depend on are in docs/deployment.md. Only platform or hardware, and the four sizes of layer, are required.
// `intermediate` is the whole layer's; a rank holds intermediate / (tp * pcp * dp), or all of it under expert parallelism, as in the engine. Names
// are the engine's, case, '-' and '_' ignored. all2all is taken as written: the engine's launcher turns pplx and naive into allgather_reducescatter
// before its oracles see them.

#include <filesystem>
#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"

namespace mx::support {

class InfoNode;
class Json;

/// What a file asks: which of an engine's oracles, and for what. Keys that it leaves out are those that callers of the oracle usually pass.
struct DeploymentFile {
  deployment::Engine engine;
  std::string oracle;
  deployment::Deployment deployment;
  std::string release = {};  ///< by which the user named the engine; empty: by a month or a commit
  std::string launch = {};   ///< for launch_of; a tuned file by the folder of this one
};

/// Reads and checks a deployment file for an engine; a name in `oracle` replaces the file's. Throws Error(input) naming file, line, key, value and
/// rule, and the nearest known name, also for a key that the oracle does not read; Error(usage) for an unknown name in `oracle`, Error(unsupported)
/// for an engine that has no tables of the oracle.
DeploymentFile load_deployment_file(const std::filesystem::path& path, std::string_view oracle = {}, deployment::Engine engine = deployment::kDefaultEngine);
DeploymentFile parse_deployment_file(std::string_view text, const std::string& where, std::string_view oracle = {}, deployment::Engine engine = deployment::kDefaultEngine);
/// The same of a nested object with the keys of a file.
DeploymentFile deployment_file_of(const Json& object, const std::string& where, std::string_view oracle = {}, deployment::Engine engine = deployment::kDefaultEngine);
/// A deployment for this oracle that is a block of another file, whose reader calls finish(). Throws in the same way.
deployment::Deployment read_deployment(const InfoNode& block, std::string_view oracle, deployment::Engine engine);
/// The deployment alone.
deployment::Deployment load_deployment(const std::filesystem::path& path);
deployment::Deployment parse_deployment(std::string_view text, const std::string& where);

}  // namespace mx::support
