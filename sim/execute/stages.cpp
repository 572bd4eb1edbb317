#include "sim/execute/stages.hpp"

#include <array>

#include "model/numerics/rows.hpp"

namespace mx::sim {
namespace {

constexpr std::array kStages{
    StageRow{LayerStage::a1_codes, 0, "a1_codes", "U8; BF16 where the kernel dequantizes again", "[T, H], H in whole blocks",
             "x as it enters the first product, a code in a byte; of backends that quantize it"},
    StageRow{LayerStage::a1_scales, 0, "a1_scales", "U8 (E8M0, E4M3) or F32", "[T, blocks], [T, 1] of tokens, [1] of the tensor",
             "its scales by rows, in whatever memory the kernel has them; none where it dequantizes again"},
    StageRow{LayerStage::h13, 1, "h13", "BF16 where the kernel rounds it, else F32", "[S, 2I]; [S, I] of experts without a gate",
             "the first product with scales and bias: gate's I columns, then up's"},
    StageRow{LayerStage::act, 2, "act", "BF16; F32 under a contract alone", "[S, I]",
             "the activation of gate and up; none where one kernel quantizes it too"},
    StageRow{LayerStage::act_codes, 3, "act_codes", "as a1_codes", "[S, I], I in whole blocks", "act as it enters the second product"},
    StageRow{LayerStage::act_scales, 3, "act_scales", "as a1_scales", "as a1_scales, S for T", "its scales"},
    StageRow{
        LayerStage::y, 4, "y", "as act", "[S, H]",
        "the second product with scales and bias, rounded where it is BF16; times the slot's weight where the kernel multiplies before it rounds"},
    StageRow{LayerStage::out, 5, "out", "as act", "[T, H]", "the sum over a token's slots"},
};

}  // namespace

std::span<const StageRow> stage_rows() { return kStages; }

const StageRow& row_of(LayerStage stage) { return kStages[static_cast<std::size_t>(stage)]; }

const StageRow& stage_named(std::string_view name) { return rows::named(kStages, "stage", name); }

std::size_t width_of(std::string_view dtype) { return dtype == "U8" ? 1 : dtype == "BF16" ? 2 : 4; }

std::vector<std::uint8_t> bytes_of(const StageValues& values) {
  const std::size_t width = width_of(values.dtype);
  std::vector<std::uint8_t> bytes(values.words.size() * width);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(values.words[i / width] >> (8 * (i % width)));
  return bytes;
}

std::vector<std::uint32_t> words_of(std::span<const std::uint8_t> bytes, std::string_view dtype) {
  const std::size_t width = width_of(dtype);
  std::vector<std::uint32_t> words(bytes.size() / width);
  for (std::size_t i = 0; i < words.size() * width; ++i) words[i / width] |= std::uint32_t{bytes[i]} << (8 * (i % width));
  return words;
}

}  // namespace mx::sim
