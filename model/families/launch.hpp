#pragma once
// What a launch of a kernel adds to its row: tile, step of k, grid, modes of the engine. By it one row computes several bits. Its numbers are given
// by a user, or chosen as the engine does; the row's own function (ExecutionRow::launch) says what they change.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/arithmetic.hpp"
#include "model/families/k_slices.hpp"
#include "model/numerics/dot.hpp"

namespace mx::families {

struct Between;

/// One number of a launch.
enum class LaunchKey : std::uint8_t {
  tokens,
  block_m,
  block_n,
  step_k,
  e8m0,
  batch_invariant,
  tile_k,
  tile_n,
  threads,
  blocks,
  warp_k,
  stages,
  stream_k,
};
struct LaunchKeyRow {
  LaunchKey key;
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  std::string_view meaning;
};
std::span<const LaunchKeyRow> launch_keys();
inline constexpr std::size_t kLaunchKeys = 13;

/// The two products of a layer.
inline constexpr std::size_t kFirstProduct = 0, kSecondProduct = 1;

/// What a tuned file of the engine has for launches of about so many tokens.
struct TunedTile {
  std::int64_t tokens;
  std::int64_t block_m;
  std::int64_t block_n;
  std::int64_t step_k;

  friend bool operator==(const TunedTile&, const TunedTile&) = default;
};
/// Tiles of vLLM's Triton kernel, in the order of their file; never empty.
struct TunedTiles {
  std::string file;  ///< its name, for people
  std::vector<TunedTile> tiles;

  /// The one whose number of tokens is nearest, of two the first. Source: vllm 7e1b45a09 fused_moe.py try_get_optimal_moe_config.
  const TunedTile& of(std::int64_t tokens) const;
  bool is_one() const;  ///< every number of tokens has the same tile

  friend bool operator==(const TunedTiles&, const TunedTiles&) = default;
};

/// Numbers that a user gives, for each product; the rest is chosen.
struct LaunchChoice {
  std::array<std::array<std::optional<std::int64_t>, kLaunchKeys>, 2> given = {};
  std::optional<TunedTiles> tuned = {};  ///< in the place of the engine's own tile; support::launch_of reads them from a file

  std::optional<std::int64_t> find(LaunchKey key, std::size_t product = kFirstProduct) const {
    return given.at(product).at(static_cast<std::size_t>(key));
  }
  void set(LaunchKey key, std::int64_t value);
  bool has_tile() const;  ///< some number besides the modes and the tokens

  friend bool operator==(const LaunchChoice&, const LaunchChoice&) = default;
};
/// "block_m=16,step_k=64,w2.tile_k=128": of both products, "w2." of the second alone. Empty: nothing is given. Throws Error(usage) with the nearest
/// known key, and for a number outside its range.
LaunchChoice read_launch(std::string_view text);

inline bool is_batch_invariant(const LaunchChoice& choice) { return choice.find(LaunchKey::batch_invariant).value_or(0) == 1; }

/// What a row's launch follows from.
struct LaunchFacts {
  Operation operation;
  deployment::Engine engine;
  layout::Sizes sizes;  ///< of one rank, as the kernel has them
  std::int64_t tokens;  ///< of the launch
  std::int64_t top_k;
  std::string_view activation;  ///< the engine's name of the model's
  bool limited;                 ///< the model bounds gate and up
  bool gated;
  bool shared;  ///< several ranks compute the layer
  bool mapped;  ///< each has experts of its own, and a map of them
  const LaunchChoice& choice;
};

/// Sums whose k warps and blocks share: of tiles of `block_m` of an expert's slots, padded, by `tile_n` rows of the matrix.
struct SharedSums {
  std::int64_t block_m;
  std::int64_t tile_n;
  std::int64_t columns;                                              ///< rows of the matrix, padded
  std::int64_t length;                                               ///< of k, padded
  std::function<KCut(std::int64_t token_blocks)> cut;                ///< of all tiles
  std::function<PreparedOperand(const PreparedOperand&)> parted;     ///< an operand of that length in the order of the warps
  std::function<std::vector<KSlice>(std::span<const KSlice>)> runs;  ///< elements of a parted operand that are one chain each, of a tile cut so
  /// fp32 bits of an output from the sums of its chains; `scale`: that of the row or the tensor, where it meets each slice; `bias` likewise.
  std::function<std::uint32_t(std::span<const std::uint32_t> sums, std::optional<std::uint32_t> scale, std::optional<std::uint32_t> bias)> joined;
  /// Ascending, all values that can come of such sums, where slices are joined in no fixed order; `joined` is one of them. Null: there is one.
  std::function<std::vector<std::uint32_t>(std::span<const std::uint32_t> sums, std::optional<std::uint32_t> scale,
                                           std::optional<std::uint32_t> bias)>
      possible = nullptr;
  bool scales_slices = false;  ///< the scale of a row, of the tensor or of all k multiplies each slice's sum, not the whole
  bool adds_bias = false;      ///< the bias is added to a slice
};

/// Whether scales of groups are powers of two: where the engine takes DeepGEMM to run, by its variable, whatever the backend; its wheel has DeepGEMM.
/// Source: vllm 0.22.1, 0.29.0 and 0.33.0 utils/deep_gemm.py is_deep_gemm_e8m0_used, platforms/cuda.py support_deep_gemm.
bool uses_e8m0(const LaunchFacts& facts);
/// Whether the engine takes DeepGEMM to run there.
bool runs_deep_gemm(const LaunchFacts& facts);

/// How a kernel reads weights, where that is not what the layout holds.
struct WeightReading {
  bool shifts_scales = false;                           ///< E8M0 bytes 0 and 255 are zero and Inf
  std::int64_t odd_rows_end = 0;                        ///< so many k are read of odd rows of w13; 0: all
  std::int64_t scales_every = 1;                        ///< blocks of 128 of k that take the scales of their first, of both operands
  int exponent = 0;                                     ///< elements enter times 2 to this power
  Value (*code)(std::uint32_t code) = nullptr;          ///< what an FP8 code stands for; null: its number
  std::uint32_t (*scale)(std::uint32_t f32) = nullptr;  ///< bf16 bits of what an fp32 scale of such weights becomes; null: it stays
};

/// What quantizes in groups where the engine itself does.
inline constexpr std::string_view kGroupQuantizer = "fp8-group128";

/// What a launch makes of a row on a device.
struct Launched {
  std::string contract = {};                   ///< of the products, as contract_named() reads it; empty: the unit's
  std::optional<EpilogueScale> epilogue = {};  ///< in place of the row's
  const Between* between = nullptr;            ///< joins the activation with the second quantizer
  const Between* applied = nullptr;            ///< the engine's function in the place of the row's activation; null: the row's
  bool between_powers = false;                 ///< whose scales are powers of two
  std::string_view quantizer = {};             ///< in place of the row's groups of 128, in front of either product; empty: the row's
  bool global_meets_weight = false;            ///< the scale of a whole expert multiplies the routing weight, not the second product
  WeightReading reading = {};
  std::array<std::optional<SharedSums>, 2> products = {};  ///< of products whose k is shared
  std::string text = {};                                   ///< the launch in words, and what of it was chosen; empty: no launch changes a bit
};

/// What decides on the engine's function between two products.
struct AppliedFacts {
  Arch arch;
  deployment::Engine engine;
  std::string_view activation;  ///< the engine's name
  bool limited;                 ///< of a model with a limit
  bool mapped;                  ///< experts lie on several ranks
};
/// The engine's function; null: the row's activation alone counts.
const Between* applied_by(const ExecutionRow& row, const AppliedFacts& facts);
/// The kernel that computes the activation, its quantizer's or the engine's function; null: the row's activation alone counts.
const Between* activates(const Launched& made);

/// The row's own launch on the device, and what the engine's modes change in every row of its kind.
Launched launched(const ExecutionRow& row, const LaunchFacts& facts);

/// "block_m 16 (given)": a number of the launch, and where it comes from.
std::string launch_text(LaunchKey key, std::int64_t value, const LaunchChoice& choice, std::size_t product = kFirstProduct);

}  // namespace mx::families
