#include "checkpoint/maker/candidates.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "model/fault.hpp"
#include "model/numerics/device.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::array<Bridge, 4> kBridges{{
    {"as-it-is", "", nullptr, BridgeUse::always},
    {"f32", ", widened to f32", &kF32, BridgeUse::source_not_taken},
    {"bf16", ", rounded to bf16 first", &kBf16, BridgeUse::nothing_fits},
    {"fp16", ", rounded to fp16 first", &kFp16, BridgeUse::nothing_fits},
}};

constexpr std::uint32_t kOne = 0x3F800000U;

std::uint32_t reciprocal(std::uint32_t bits) { return std::bit_cast<std::uint32_t>(1.0F / std::bit_cast<float>(bits)); }
bool is_number(std::uint32_t bits) { return bits > 0 && bits < 0x7F800000U; }

/// Numbers whose reciprocal is this one in fp32: what a file that stores the one lost of the other.
std::vector<std::uint32_t> reciprocals_of(std::uint32_t bits) {
  const std::uint32_t near = reciprocal(bits);
  std::vector<std::uint32_t> found{near};
  for (const std::uint32_t other : {near - 1, near + 1, near - 2, near + 2}) {
    if (is_number(other) && reciprocal(other) == bits) found.push_back(other);
  }
  return found;
}

/// What a recipe of two levels may have been given, and of one number what it is given by the file.
std::vector<TensorScale> tensor_scales(const Recipe& recipe, const CodedMatrix& matrix) {
  const TensorNeeds needs = tensor_needs(recipe);
  const auto* const two = std::get_if<Nvfp4Recipe>(&recipe.how);
  if (two == nullptr) {
    if (!needs.decode) return {{}};
    // A scale that was given to the recipe is known only where the whole matrix has one.
    return matrix.is_one_block() && matrix.number && is_number(matrix.number->bits) ? std::vector{TensorScale{{}, matrix.number->bits}}
                                                                                    : std::vector<TensorScale>{};
  }
  const StoredNumber number = matrix.number.value_or(StoredNumber{kOne, true});
  if (!is_number(number.bits) || !is_number(reciprocal(number.bits))) return {};
  std::vector<TensorScale> made;
  if (needs.encode || (two->encode_may_be_missing && matrix.number)) {
    for (const std::uint32_t encode : number.divides ? std::vector{number.bits} : reciprocals_of(number.bits))
      made.push_back({encode, needs.decode ? std::optional(device::rcp_approx(encode)) : std::nullopt});
  } else if (needs.decode) {
    for (const std::uint32_t decode : number.divides ? reciprocals_of(number.bits) : std::vector{number.bits}) made.push_back({{}, decode});
  } else if (number.bits == kOne) {
    made.push_back({});
  }
  return made;
}

bool fits(const BlockFormat& format, const CodedMatrix& matrix) {
  if (format.element != matrix.element) return false;
  if (format.block == 0) return matrix.is_one_block() || bytes_of(*matrix.scale) > 1;
  if (matrix.is_one_block()) return false;
  return format.block_rows == matrix.block_rows && format.block == matrix.block_rows * matrix.block_columns &&
         (format.scale == &kE4m3fn) == (matrix.scale == &kE4m3fn);
}

/// A maker's rule for blocks of another length than those of its row.
struct OtherBlocks {
  const Profile* profile;
  Recipe recipe;
};

constexpr BlockFormat kNvfp4Of32{"nvfp4_g32", &kE2m1, &kE4m3fn, 32, "nvidia-modelopt 0.47.0, quant_algo W4A8_NVFP4_FP8"};

/// ModelOpt's NVFP4 in groups of 32. Source: nvidia-modelopt 0.47.0 torch/export/quant_utils.py, QUANTIZATION_W4A8_NVFP4_FP8: the same steps under
/// weight_scale_2 = amax / 448.
std::span<const OtherBlocks> other_blocks() {
  static const std::array<OtherBlocks, 1> kRows = [] {
    const Profile& modelopt = profile_named("modelopt-nvfp4");
    Recipe recipe = modelopt.recipes.front();
    recipe.format = &kNvfp4Of32;
    return std::array<OtherBlocks, 1>{{{&modelopt, recipe}}};
  }();
  return kRows;
}

bool is_tried(const Bridge& bridge, BridgeUse use, const Recipe& recipe, const Format& source) {
  if (fault::planted(fault::Fault::bases_are_as_they_lie) && bridge.to != nullptr) return false;
  if (bridge.use == BridgeUse::source_not_taken ? takes_source(recipe, source) == (use == BridgeUse::always) : bridge.use != use) return false;
  return bridge.to != &source && takes_source(recipe, bridge.to == nullptr ? source : *bridge.to);
}

}  // namespace

std::span<const Bridge> bridges() { return kBridges; }

std::string Candidate::made_from() const { return "of this base" + std::string(bridge->text) + text; }

std::vector<Candidate> candidates(const CodedMatrix& matrix, std::span<const Amax> amaxes, BridgeUse use) {
  std::vector<Candidate> made;
  const auto add = [&](const Bridge& bridge, const Profile& profile, const Recipe& recipe) {
    if (!fits(*recipe.format, matrix) || !gives_codes(recipe) || !is_tried(bridge, use, recipe, *matrix.source)) return;
    for (const TensorScale& tensor : tensor_scales(recipe, matrix)) {
      const bool given = std::holds_alternative<Fp8Recipe>(recipe.how) && tensor.decode.has_value();
      const std::size_t choices = matrix.is_one_block() && !given ? amaxes.size() : 1;
      for (std::size_t amax = 0; amax < choices; ++amax)
        made.push_back({&profile, &recipe, &bridge, tensor, amax, given,
                        choices > 1 && !amaxes[amax].text.empty() ? ", its scale that of " + std::string(amaxes[amax].text) : ""});
    }
  };
  for (const Bridge& bridge : kBridges) {
    for (const Profile& profile : all_profiles()) {
      for (const Recipe& recipe : profile.recipes) add(bridge, profile, recipe);
    }
    for (const OtherBlocks& other : other_blocks()) add(bridge, *other.profile, other.recipe);
  }
  return made;
}

}  // namespace mx::checkpoint
