#include "props/checkpoint/defects.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "props/checkpoint/defect_places.hpp"
#include "props/checkpoint/directory.hpp"
#include "support/random.hpp"

namespace mx::props {
namespace {

using checkpoint::ValueFault;
using Random = support::SplitMix64;
using K = SoundKind;
using Made = std::optional<Planted>;

/// One scale of a live expert becomes a code of its dtype: of bytes of exponents, of e4m3, of wider numbers (fp32 bits).
Made one_scale(SoundCheckpoint& made, std::uint64_t seed, std::optional<std::uint32_t> exponents, std::optional<std::uint32_t> e4m3,
               std::optional<std::uint32_t> wide) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  const std::optional<Place> scales = at ? scales_of(made, *at) : std::nullopt;
  if (!scales) return std::nullopt;
  const std::size_t width = unit_of(*scales->tensor);
  const auto code = is_exponents(*scales->tensor) ? exponents : width == 1 ? e4m3 : wide;
  if (!code) return std::nullopt;
  put_code_at(scales->bytes, random.next() % (scales->bytes.size() / width), width, width == 2 ? *code >> 16 : *code);
  return Planted{scales->tensor->data.name, {}};
}

Made nan_scale(SoundCheckpoint& made, std::uint64_t seed) { return one_scale(made, seed, 255, 0x7F, 0x7FC00000); }
Made inf_scale(SoundCheckpoint& made, std::uint64_t seed) { return one_scale(made, seed, std::nullopt, std::nullopt, 0x7F800000); }
Made negative_scale(SoundCheckpoint& made, std::uint64_t seed) { return one_scale(made, seed, std::nullopt, 0xB8, 0xBC000000); }
Made subnormal_scale(SoundCheckpoint& made, std::uint64_t seed) { return one_scale(made, seed, std::nullopt, std::nullopt, 0x00010000); }
Made largest_scale(SoundCheckpoint& made, std::uint64_t seed) {
  return one_scale(made, seed, 254, std::nullopt, made.form->scale_dtype == "BF16" ? 0x7F7F0000 : 0x7F7FFFFF);
}

Made nan_code(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  if (!at || at->weight.tensor->data.dtype == "U8" || at->weight.tensor->data.dtype == "I32") return std::nullopt;
  const std::size_t width = unit_of(*at->weight.tensor);
  put_code_at(at->weight.bytes, random.next() % (at->weight.bytes.size() / width), width, width == 1 ? 0xFF : 0x7FC1);
  return Planted{at->weight.tensor->data.name, {}};
}

/// Blocks of a weight that lie in one run: bytes of one.
std::size_t run_of(const SoundCheckpoint& made, const Place& weight, const Place& scales) {
  const bool runs = made.form->lie != SoundLie::input_major && made.form->kind != K::fp8_block && made.form->kind != K::fp8_tensor;
  return runs ? weight.bytes.size() / (scales.bytes.size() / unit_of(*scales.tensor)) : 0;
}

/// A block of a live expert whose codes lie in one run.
struct Block {
  Live at;
  Place scales;
  std::size_t index;
  std::span<std::uint8_t> codes;
};
std::optional<Block> block(SoundCheckpoint& made, Random& random) {
  const std::optional<Live> at = live(made, random);
  const std::optional<Place> scales = at ? scales_of(made, *at) : std::nullopt;
  if (!scales) return std::nullopt;
  const std::size_t run = run_of(made, at->weight, *scales);
  if (run == 0) return std::nullopt;
  const std::size_t index = random.next() % (at->weight.bytes.size() / run);
  return Block{*at, *scales, index, at->weight.bytes.subspan(index * run, run)};
}
bool is_coded(const SoundCheckpoint& made) { return made.form->kind != K::plain && made.form->kind != K::int4; }

Made zero_scale(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Block> at = block(made, random);
  if (!at || is_exponents(*at->scales.tensor) || !is_coded(made)) return std::nullopt;
  if (std::ranges::none_of(at->codes, [&](std::uint8_t byte) { return (byte & magnitude_mask(made)) != 0; })) return std::nullopt;
  put_code_at(at->scales.bytes, at->index, unit_of(*at->scales.tensor), 0);
  return Planted{at->scales.tensor->data.name, {}};
}
Made zero_block(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Block> at = block(made, random);
  if (!at || !is_coded(made) || made.form->kind == K::fp8_channel) return std::nullopt;
  std::ranges::fill(at->codes, std::uint8_t{0});
  // A scale that is large, and no quantizer's number for a block of zeros.
  put_code_at(at->scales.bytes, at->index, 1, is_exponents(*at->scales.tensor) ? 140 : 0x7A);
  return Planted{at->scales.tensor->data.name, {}};
}
Made full_block(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Block> at = block(made, random);
  if (!at || !is_coded(made)) return std::nullopt;
  const bool four = made.form->kind == K::mxfp4 || made.form->kind == K::nvfp4;
  std::ranges::fill(at->codes, std::uint8_t{four ? std::uint8_t{0xF7} : std::uint8_t{0x7E}});
  return Planted{at->at.weight.tensor->data.name, {}};
}

/// The codes of a byte, each changed.
void each_code(std::span<std::uint8_t> bytes, bool four, const std::function<std::uint8_t(std::uint8_t)>& change) {
  for (std::uint8_t& byte : bytes) byte = four ? static_cast<std::uint8_t>(change(byte & 15U) | change(byte >> 4U) << 4U) : change(byte);
}
/// Whether scales have two numbers that are frequent: else weights have one magnitude or few, and little shows in them.
bool is_spread(const Place& scales) {
  const std::size_t width = unit_of(*scales.tensor), count = scales.bytes.size() / width;
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < count; ++i) codes.push_back(unit_at(scales.bytes, i, width));
  std::ranges::sort(codes);
  std::vector<std::size_t> runs;
  for (std::size_t begin = 0; begin < count;) {
    const auto end = std::ranges::upper_bound(codes, codes[begin]);
    runs.push_back(static_cast<std::size_t>(end - codes.begin()) - begin);
    begin += runs.back();
  }
  std::ranges::sort(runs, std::greater());
  return runs.size() > 1 && (8 * runs[1] > count || 2 * runs[0] < count);
}
Made never_largest(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  if (!at || !is_coded(made) || made.form->kind == K::fp8_tensor || made.form->kind == K::fp8_block) return std::nullopt;
  const std::optional<Place> scales = scales_of(made, *at);
  if (!scales || scales->bytes.size() / unit_of(*scales->tensor) < (made.form->kind == K::mxfp8 ? 600U : 256U) || !is_spread(*scales))
    return std::nullopt;
  const bool four = made.form->kind == K::mxfp4 || made.form->kind == K::nvfp4;
  // As if each weight had been made for a scale of twice the size.
  each_code(at->weight.bytes, four, [&](std::uint8_t code) -> std::uint8_t {
    const std::uint8_t sign = four ? 8 : 0x80, magnitude = code & static_cast<std::uint8_t>(sign - 1), step = four ? 2 : 8;
    return static_cast<std::uint8_t>((code & sign) | (magnitude > step ? magnitude - step : magnitude / 2));
  });
  return Planted{at->weight.tensor->data.name, {}};
}
Made always_largest(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  const std::optional<Place> scales = at ? scales_of(made, *at) : std::nullopt;
  const bool steps = made.form->kind == K::mxfp4 || made.form->kind == K::mxfp8;
  if (!scales || !steps || scales->bytes.size() < 128) return std::nullopt;
  const std::size_t run = run_of(made, at->weight, *scales);
  const bool four = made.form->kind == K::mxfp4;
  // Where most codes of a block are near its largest, each block has it by right.
  std::size_t largest = 0;
  each_code(at->weight.bytes, four, [&](std::uint8_t code) {
    largest += (code & (four ? 7U : 0x7FU)) == (four ? 7U : 0x7EU) ? 1 : 0;
    return code;
  });
  if (largest > scales->bytes.size()) return std::nullopt;
  for (std::size_t begin = 0; run > 0 && begin < at->weight.bytes.size(); begin += run) {
    const std::span<std::uint8_t> codes = at->weight.bytes.subspan(begin, run);
    if (std::ranges::none_of(codes, [&](std::uint8_t byte) { return (byte & magnitude_mask(made)) != 0; })) continue;
    std::uint8_t& one = codes[random.next() % run];
    one = static_cast<std::uint8_t>(four ? one | 7U : (one & 0x80U) | 0x7EU);
  }
  return Planted{at->weight.tensor->data.name, {}};
}

Made rows_alike(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  if (!at) return std::nullopt;
  const std::vector<std::int64_t>& shape = at->weight.tensor->data.shape;
  std::size_t rows = static_cast<std::size_t>(at->weight.tensor->expert >= 0 ? shape[0] : shape[1]);
  const std::size_t row = at->weight.bytes.size() / rows;
  for (std::size_t r = 1; r < rows; ++r) std::ranges::copy(at->weight.bytes.first(row), at->weight.bytes.subspan(r * row, row).begin());
  if (std::ranges::none_of(at->weight.bytes, [&](std::uint8_t byte) { return (byte & magnitude_mask(made)) != 0; })) return std::nullopt;
  return Planted{at->weight.tensor->data.name, {}};
}
Made groups_alike(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Block> at = block(made, random);
  if (!at || made.form->kind == K::fp8_channel || made.form->kind == K::plain) return std::nullopt;
  if (std::ranges::none_of(at->codes, [&](std::uint8_t byte) { return (byte & magnitude_mask(made)) != 0; })) return std::nullopt;
  const std::vector<std::uint8_t> one(at->codes.begin(), at->codes.end());
  for (std::size_t begin = 0; begin < at->at.weight.bytes.size(); begin += one.size())
    std::ranges::copy(one, at->at.weight.bytes.subspan(begin).begin());
  return Planted{at->at.weight.tensor->data.name, {}};
}
Made scales_alike(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  const std::optional<Place> scales = at ? scales_of(made, *at) : std::nullopt;
  if (!scales) return std::nullopt;
  const std::size_t width = unit_of(*scales->tensor), count = scales->bytes.size() / width;
  if (count < 64) return std::nullopt;
  if (!is_spread(*scales)) return std::nullopt;
  std::vector<std::uint32_t> sorted;
  for (std::size_t i = 0; i < count; ++i) sorted.push_back(unit_at(scales->bytes, i, width));
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < count; ++i) put_code_at(scales->bytes, i, width, sorted[count / 2]);
  return Planted{scales->tensor->data.name, {}};
}

Made spelled(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  const std::optional<Place> scales = at ? scales_of(made, *at) : std::nullopt;
  if (!scales || made.form->kind == K::nvfp4 || made.form->kind == K::fp8_tensor) return std::nullopt;
  const std::size_t width = unit_of(*scales->tensor), count = scales->bytes.size() / width;
  if (count < 4) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    if (width == 1) {
      scales->bytes[i] = static_cast<std::uint8_t>(scales->bytes[i] - 127);
    } else {
      put_number(scales->bytes, i, width, 127 + std::clamp(std::ilogb(number_at(scales->bytes, i, width)), -60, 60));
    }
  }
  return Planted{scales->tensor->data.name, {}};
}

/// One number that counts for a matrix, changed.
Made one_number(SoundCheckpoint& made, std::uint64_t seed, Part part, const std::function<std::optional<double>(double)>& change) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  SoundTensor* const tensor = at ? find_part(made, part, at->expert, at->projection) : nullptr;
  if (tensor == nullptr) return std::nullopt;
  const std::optional<double> number = change(number_at(tensor->data.bytes, 0, 4));
  if (!number) return std::nullopt;
  put_number(tensor->data.bytes, 0, 4, *number);
  return Planted{tensor->data.name, {}};
}
Made exchanged_global(SoundCheckpoint& made, std::uint64_t seed) {
  return one_number(made, seed, Part::global, [](double number) { return std::optional(1 / number); });
}
Made exchanged_input(SoundCheckpoint& made, std::uint64_t seed) {
  if (made.form->kind != K::nvfp4) return std::nullopt;
  return one_number(made, seed, Part::input, [](double number) { return std::optional(1 / number); });
}
Made exchanged_scales(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  const std::optional<Place> scales = at ? scales_of(made, *at) : std::nullopt;
  if (!scales || made.form->kind == K::nvfp4 || made.form->kind == K::int4) return std::nullopt;
  const std::size_t width = unit_of(*scales->tensor);
  for (std::size_t i = 0; i < scales->bytes.size() / width; ++i) {
    if (width == 1) {
      // Weights of 2 and more are what their reciprocals may be by right.
      if (scales->bytes[i] < 64 || scales->bytes[i] > 125) return std::nullopt;
      scales->bytes[i] = static_cast<std::uint8_t>(254 - scales->bytes[i]);
    } else {
      const double number = number_at(scales->bytes, i, width);
      // A block of zeros has a number of its own.
      if (number < 0x1p-18) return std::nullopt;
      put_number(scales->bytes, i, width, 1 / number);
    }
  }
  return Planted{scales->tensor->data.name, {}};
}
Made global_of_zero(SoundCheckpoint& made, std::uint64_t seed) {
  if (!made.form->inverse) return std::nullopt;
  return one_number(made, seed, Part::global, [](double) { return std::optional(0.0); });
}
Made input_of_zero(SoundCheckpoint& made, std::uint64_t seed) {
  return one_number(made, seed, Part::input, [](double) { return std::optional(0.0); });
}

Made lost_input(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  SoundTensor* const tensor = at ? find_part(made, Part::input, at->expert, at->projection) : nullptr;
  if (tensor == nullptr || tensor->expert < 0) return std::nullopt;
  const std::string name = tensor->data.name;
  std::erase_if(made.tensors, [&](const SoundTensor& one) { return one.data.name == name; });
  return Planted{name, {}};
}
/// Of gate or of up: the other one's number stays.
Made unlike(SoundCheckpoint& made, std::uint64_t seed, Part part) {
  Random random(seed);
  const auto expert = static_cast<int>(random.next() % static_cast<std::uint64_t>(made.experts));
  SoundTensor* const up = find_part(made, part, expert, 1);
  if (up == nullptr) return std::nullopt;
  put_number(up->data.bytes, 0, 4, number_at(up->data.bytes, 0, 4) * 1.25);
  return Planted{up->data.name, {}};
}
Made unlike_globals(SoundCheckpoint& made, std::uint64_t seed) { return unlike(made, seed, Part::global); }
Made unlike_inputs(SoundCheckpoint& made, std::uint64_t seed) { return unlike(made, seed, Part::input); }

/// All tensors of one expert are another one's.
Made equal_experts(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  if (!at) return std::nullopt;
  const int other = (at->expert + 1) % static_cast<int>(made.experts);
  Planted planted;
  for (SoundTensor& tensor : made.tensors) {
    const bool of_experts = tensor.part == Part::weight || tensor.part == Part::scale || tensor.part == Part::bias;
    if (!of_experts || (tensor.expert >= 0 && tensor.expert != at->expert)) continue;
    SoundTensor* const to = find_part(made, tensor.part, other, tensor.projection);
    std::ranges::copy(part_of(made, tensor, at->expert).bytes, part_of(made, *to, other).bytes.begin());
    if (tensor.part == Part::weight && planted.tensor.empty()) planted = {tensor.data.name, to->data.name};
  }
  return planted;
}
Made gate_is_up(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const std::optional<Live> at = live(made, random);
  if (!at) return std::nullopt;
  SoundTensor* const gate = find_part(made, Part::weight, at->expert, 0);
  SoundTensor* const up = find_part(made, Part::weight, at->expert, 1);
  if (gate != nullptr && up != nullptr) {
    if (std::ranges::none_of(gate->data.bytes, [&](std::uint8_t byte) { return (byte & magnitude_mask(made)) != 0; })) return std::nullopt;
    up->data.bytes = gate->data.bytes;
    return Planted{up->data.name, gate->data.name};
  }
  SoundTensor* const both = find_part(made, Part::weight, at->expert, 3);
  if (both == nullptr) return std::nullopt;
  const std::span<std::uint8_t> bytes = part_of(made, *both, at->expert).bytes;
  const std::vector<std::int64_t>& shape = both->data.shape;
  const auto rows = static_cast<std::size_t>(both->expert >= 0 ? shape[0] : shape[1]);
  const std::size_t row = bytes.size() / rows;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span<std::uint8_t> one = bytes.subspan(r * row, row);
    if (made.form->lie == SoundLie::input_major) {
      std::ranges::copy(one.first(row / 2), one.subspan(row / 2).begin());
    } else if (made.form->lie == SoundLie::alternating) {
      if (r % 2 == 1) std::ranges::copy(bytes.subspan((r - 1) * row, row), one.begin());
    } else if (r >= rows / 2) {
      std::ranges::copy(bytes.subspan((r - rows / 2) * row, row), one.begin());
    }
  }
  return Planted{both->data.name, {}};
}
Made router_of_zeros(SoundCheckpoint& made, std::uint64_t seed) {
  Random random(seed);
  const auto router = std::ranges::find(made.tensors, Part::router, &SoundTensor::part);
  const std::size_t row = router->data.bytes.size() / static_cast<std::size_t>(made.experts);
  const std::size_t expert = random.next() % static_cast<std::uint64_t>(made.experts);
  std::ranges::fill(std::span(router->data.bytes).subspan(expert * row, row), std::uint8_t{0});
  return Planted{router->data.name, {}};
}

constexpr std::array kDefects{
    Defect{"nan-scale", ValueFault::not_a_number, false, nan_scale},
    Defect{"inf-scale", ValueFault::infinite, false, inf_scale},
    Defect{"negative-scale", ValueFault::negative, false, negative_scale},
    Defect{"subnormal-scale", ValueFault::subnormal, false, subnormal_scale},
    Defect{"largest-scale", ValueFault::saturated, false, largest_scale},
    Defect{"nan-code", ValueFault::not_a_number, true, nan_code},
    Defect{"zero-scale", ValueFault::zero_over_codes, true, zero_scale},
    Defect{"zero-block", ValueFault::zero_codes, true, zero_block},
    Defect{"full-block", ValueFault::saturated_codes, true, full_block},
    Defect{"never-largest", ValueFault::never_largest, true, never_largest},
    Defect{"always-largest", ValueFault::always_largest, true, always_largest},
    Defect{"rows-alike", ValueFault::rows_alike, true, rows_alike},
    Defect{"groups-alike", ValueFault::groups_alike, true, groups_alike},
    Defect{"scales-alike", ValueFault::scales_alike, true, scales_alike},
    Defect{"exponent-spelled", ValueFault::exponent_spelled, false, spelled},
    Defect{"exchanged-global", ValueFault::reciprocal, false, exchanged_global},
    Defect{"exchanged-input", ValueFault::reciprocal, false, exchanged_input},
    Defect{"exchanged-scales", ValueFault::reciprocal, false, exchanged_scales},
    Defect{"global-of-zero", ValueFault::factor_infinite, false, global_of_zero},
    Defect{"input-of-zero", ValueFault::factor_infinite, false, input_of_zero},
    Defect{"lost-input", ValueFault::missing, false, lost_input},
    Defect{"unlike-globals", ValueFault::unlike_halves, false, unlike_globals},
    Defect{"unlike-inputs", ValueFault::unlike_inputs, false, unlike_inputs},
    Defect{"equal-experts", ValueFault::equal_experts, true, equal_experts},
    Defect{"gate-is-up", ValueFault::gate_is_up, true, gate_is_up},
    Defect{"router-of-zeros", ValueFault::router_of_zeros, true, router_of_zeros},
};

}  // namespace

std::span<const Defect> defects() { return kDefects; }

checkpoint::Inspection inspected(const SoundCheckpoint& made, checkpoint::Depth depth) {
  const Directory directory;
  made.write(directory.path());
  return checkpoint::inspect_checkpoint(directory.path(), {.depth = depth});
}

std::string texts(const checkpoint::Inspection& inspection) {
  std::string all;
  for (const checkpoint::InspectedFault& one : inspection.faults) all += one.fault.text() + "\n";
  return all;
}

bool is_named(const checkpoint::Inspection& inspection, const Defect& defect, const Planted& where) {
  return std::ranges::any_of(inspection.faults, [&](const checkpoint::InspectedFault& one) {
    return one.fault.fault == defect.fault && (one.fault.tensor == where.tensor || one.fault.tensor == where.other);
  });
}

}  // namespace mx::props
