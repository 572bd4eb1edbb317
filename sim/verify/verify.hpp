#pragma once
// The main job: a checkpoint through every backend on every platform. Select, round and pad, convert, restore, compare bytes with the
// checkpoint, execute from the converted form, compare bits with execution from the checkpoint's form.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "kernels/relayout/mover.hpp"
#include "model/audit/resolve.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/families/convert.hpp"
#include "model/families/launch.hpp"
#include "model/layout/packed.hpp"
#include "model/numerics/dot.hpp"
#include "support/deployment_file.hpp"
#include "support/progress.hpp"

namespace mx::sim {

enum class Verdict {
  passed,           ///< every comparison was bit-equal and could have failed
  known_to_differ,  ///< so it was, but a real kernel was seen to contradict what was executed
  failed,           ///< a difference was found
  mistrusted,       ///< nothing differed, but the data could not have told right from wrong
  not_modelled,     ///< the backend's converter, or how it computes, is not in mxact yet
  refused,          ///< the converter or the sharding cannot take these sizes
};
std::string_view name_of(Verdict verdict);
/// Whether everything that was compared is equal: passed, known to differ or not.
constexpr bool is_held(Verdict verdict) { return verdict == Verdict::passed || verdict == Verdict::known_to_differ; }

/// Where a real kernel was seen to contradict what was executed, and whose outputs showed it.
struct KnownPlace {
  std::string where;
  std::string source;
  friend bool operator==(const KnownPlace&, const KnownPlace&) = default;
};

/// What one conversion (backend, tensor parallel size, rounded sizes) showed, over all layers, ranks and contracts.
struct ConversionResult {
  std::string backend;
  int tp;
  layout::Sizes sizes;           ///< of one rank, before rounding
  layout::Sizes padded;          ///< after rounding
  families::Arch arch;           ///< of the first platform that needs it; those on which the backend packs alike share it
  layout::Form form;             ///< of the checkpoint
  std::string activation;        ///< of its first layer, as conversions see it: Checkpoint::converted_activation
  bool has_bias;                 ///< of its layers
  std::string method;            ///< of its quantization, as Deployment::quant_method has it
  deployment::Engine engine;     ///< whose conversion it is: an earlier version's where that one's stands
  deployment::Engine served_by;  ///< whose kernels compute
  Verdict verdict;
  std::string detail;  ///< first difference, or why it is refused, mistrusted or not modelled; of what passed, why nothing was restored, else empty
  std::vector<std::string> not_asked = {};      ///< exchanges that the form or the sizes leave no pair for
  std::vector<std::string> libraries = {};      ///< of VerifyOptions, and what the version asks for beside an earlier one's conversion
  std::string standing = {};                    ///< families::standing_text: what an earlier version's conversion is to the version
  std::map<std::string, std::string> env = {};  ///< likewise
  std::string execution = {};                   ///< how it was executed: quantizers x contract, and on what grounds
  std::vector<Grounds> grounds = {};            ///< that its arithmetic stands on, as met; none where it was not executed as the backend computes
  std::vector<KnownPlace> known_to_differ = {};
  std::vector<layout::Loss> losses = {};  ///< of the conversion, summed over layers and ranks: one entry a tensor and kind
  std::int64_t units = 0;                 ///< in the packed tensors, padding included
  std::int64_t units_compared = 0;        ///< of them, with the model's addresses; all of the checkpoint's are restored
  std::int64_t compared_every = 1;        ///< of the pieces of its largest tensor's memory; 1: every unit is compared
  std::int64_t units_differing = 0;
  std::int64_t outputs_compared = 0;
  std::int64_t outputs_differing = 0;
  double seconds = 0;  ///< that converting, restoring, comparing and executing took
};

/// Its verdict as it is said: what passed and is known to differ has a word of its own.
Verdict said(const ConversionResult& result);

/// The row that a conversion follows, or null.
const families::BackendLayout* backend_of(const ConversionResult& result);

/// Whether that row is there and is one of such experts, with a gate or without.
bool is_modelled(const ConversionResult& result);

/// What a conversion sees besides the tensors, of one rank.
families::Setting setting_of(const ConversionResult& result);

/// One cell of the table: what the engine makes of a platform and what the conversion behind it showed.
struct Cell {
  std::string platform;
  int tp;
  std::string request;                                   ///< "auto", the name of moe_backend asked for, or a backend that no name leads to here
  std::string backend = {};                              ///< empty: none
  std::string kernel_class = {};                         ///< empty: none
  std::optional<engine::Refusal> refusal = {};           ///< why the engine does not run it; then there is no conversion
  bool heard = true;                                     ///< false: the method takes a class by the device, and the name leads nowhere
  std::vector<const families::KernelNeed*> broken = {};  ///< needs that the choice does not meet
  std::optional<std::size_t> conversion = std::nullopt;  ///< index into VerifyReport::conversions
  /// The run stands for it: the engine's own choice on a platform and a size that were asked for, or a backend that was.
  bool decides = false;
};

/// Exact execution against a recorded float64 output.
struct ExpectedResult {
  int layer;
  std::int64_t values = 0;
  double worst_ulp = 0;  ///< largest difference, in fp32 ulps of the row's largest output
  std::int64_t token = 0;
  std::int64_t column = 0;
  Verdict verdict = Verdict::failed;  ///< passed, failed, or mistrusted when every recorded output is 0
};

struct VerifyReport {
  deployment::Engine engine;
  std::string checkpoint;
  std::string form;
  std::vector<checkpoint::LayerGroup> layer_groups;  ///< of the checkpoint; one is verified
  int layer_group;                                   ///< that one
  layout::Sizes sizes;
  int layers;
  int layers_verified;
  std::int64_t experts_verified;  ///< of sizes.experts, the first of each layer
  int top_k;
  std::int64_t tokens;
  std::string token_source;  ///< "expected.safetensors" or "generated, seed 1"
  std::string router_source;
  bool executed;                    ///< or bytes alone were compared
  std::vector<Contract> contracts;  ///< that were asked for; empty: each backend's own, which ConversionResult::execution names
  std::vector<ConversionResult> conversions;
  std::vector<Cell> cells;
  std::vector<checkpoint::LayerValues> values;  ///< of the verified layers
  std::vector<ExpectedResult> expected;
  std::vector<std::string> hints = {};  ///< variables that would give more cells, and why there are none

  std::int64_t compared_every;  ///< the largest of all conversions

  Verdict verdict(const Cell& cell) const;
  /// Cells with that verdict; cells that the engine refuses are counted as refused.
  std::int64_t count(Verdict verdict) const;
  /// Cells with one that is held.
  std::int64_t held() const { return count(Verdict::passed) + count(Verdict::known_to_differ); }
  /// Faults of the checkpoint's numbers, also those that take trust from a cell, and conversions that pass and destroy values.
  std::int64_t warnings() const;
  /// What a conversion destroys of the verified layers, in hundredths of a tensor's values: "47 % of w13_weight_scale lost"; empty: nothing.
  std::string lost_text(const ConversionResult& result) const;
  /// Cells in which the engine chooses a backend by itself and then fails, or its converter refuses the checkpoint: a finding about the engine.
  std::int64_t broken_choices() const;
  /// What the deciding cells say comes first: 1 a difference, 4 the engine raises, 5 no verdict, or nothing passed at all; then 1 for a difference in
  /// any other cell, else 0. Recorded outputs count as deciding cells.
  int exit_code() const;
  /// Whether a deciding cell passed and is known to differ: the word for the run is the cell's, its exit code that of a pass.
  bool is_known_to_differ() const;
};

/// One of equal parts of a run: of its layers, and of each layer's conversions, in their order.
struct VerifyShare {
  int index = 1;  ///< 1..count
  int count = 1;
  friend bool operator==(const VerifyShare&, const VerifyShare&) = default;
};

struct VerifyOptions {
  deployment::Engine engine = deployment::kDefaultEngine;  ///< whose choices, sizes and conversions are verified
  std::vector<std::string> libraries;                      ///< for families::choose_libraries: releases that the engine does not ask for
  /// Where it is to run, in the place of platforms, sizes and the engine's facts of the layer, which must be the checkpoint's.
  std::optional<support::DeploymentFile> deployment = {};
  std::vector<std::string> platforms;                               ///< preset names; empty: all
  std::vector<std::string> backends;                                ///< only cells of these backends; empty: all
  std::vector<int> tp;                                              ///< empty: 1 and 2, where they are possible
  int dp = 1;                                                       ///< data parallel ranks beside them
  bool expert_parallel = false;                                     ///< ranks share the experts whole, where there are several
  std::map<std::string, std::string> env{};                         ///< variables that are set, as text
  kernels::relayout::MoveBy by = kernels::relayout::MoveBy::plans;  ///< converts; results are compared by the model
  bool executes = true;                                             ///< else the bytes alone are compared
  std::vector<Contract> contracts{};                                ///< of the products; empty: each backend's own
  families::LaunchChoice launch = {};                               ///< of every backend's kernels; what is not given is chosen
  std::optional<int> max_layers;
  std::optional<std::int64_t> max_experts;  ///< the first of each layer; the router chooses among them
  std::int64_t tokens = 4;                  ///< generated when the checkpoint brings none
  std::uint64_t seed = 1;
  VerifyShare share = {};      ///< the results of all others are those of a run that did nothing
  support::Progress progress;  ///< in bytes of the verified layers' experts
  support::Stop stop = {};
  /// Called with every converted layer before it is checked: a test flips bytes here, and the run must notice.
  std::function<void(families::PackedLayer&)> tamper;
};

/// A run before its first layer: its cells and conversions. Throws Error(usage) on an unknown platform, backend or size, Error(input) for a
/// deployment whose layer is not the checkpoint's.
VerifyReport planned_report(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options);

/// Adds what a later part of the same run showed of a conversion.
void add_later(ConversionResult& result, const ConversionResult& later);

/// Throws Error(input) when the checkpoint cannot be read, Error(usage) on an unknown platform or backend, Stopped when `options.stop` says so on the
/// way.
VerifyReport verify(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options);

/// Largest tolerated distance of `exact` execution from a float64 reference, in fp32 ulps of the row's largest output.
inline constexpr double kExpectedUlps = 4;

}  // namespace mx::sim
