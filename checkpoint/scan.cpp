#include "checkpoint/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "checkpoint/code_kind.hpp"
#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/scale_cover.hpp"
#include "checkpoint/tensor_pieces.hpp"
#include "model/numerics/convert.hpp"
#include "support/rescue.hpp"

namespace mx::checkpoint {
namespace {

using layout::WeightFormat;
using Bytes = std::span<const std::uint8_t>;

/// One number of a scale tensor, or what it is instead.
struct Number {
  bool nan = false;
  bool inf = false;
  bool zero = false;
  bool negative = false;
  bool subnormal = false;
};

Number number_of(const Format& format, std::uint32_t code) {
  const Value value = decode(format, code);
  Number number;
  number.nan = value.cls == ValueClass::nan;
  number.inf = value.cls == ValueClass::infinity;
  if (number.nan || number.inf) return number;
  number.zero = value.cls == ValueClass::zero;
  number.negative = value.negative && !number.zero;
  const std::uint32_t exponent = format.exponent_bits == 0 ? 1 : code >> format.mantissa_bits & ((1U << format.exponent_bits) - 1);
  number.subnormal = format.mantissa_bits != 0 && exponent == 0 && !number.zero;
  return number;
}

/// The format of a scale as the file has it; E8M0 where a form keeps its exponents as plain bytes.
const Format& scale_format(std::string_view dtype) {
  struct Row {
    std::string_view dtype;
    const Format* format;
  };
  static constexpr std::array kRows{Row{"F32", &kF32}, Row{"BF16", &kBf16}, Row{"F16", &kFp16}, Row{"F8_E4M3", &kE4m3fn}};
  const auto* const row = std::ranges::find(kRows, dtype, &Row::dtype);
  return row == kRows.end() ? kE8m0 : *row->format;
}

std::uint32_t code_at(Bytes bytes, std::size_t index, int width) {
  const auto size = static_cast<std::size_t>(width / 8);
  std::uint32_t code = 0;
  for (std::size_t byte = size; byte-- > 0;) code = code << 8U | bytes[index * size + byte];
  return code;
}

/// What is alike of one expert and projection.
struct Companions {
  const FoundTensor* weight = nullptr;
  const FoundTensor* global = nullptr;
  const FoundTensor* aside = nullptr;
};
using Place = std::pair<int, const Projection*>;

std::vector<std::uint8_t> bytes_of(const FoundTensor& tensor) { return tensor.at->file->read(*tensor.at->view); }

float factor_of(const FoundTensor& tensor, bool reciprocal) {
  const Format& format = scale_format(tensor.at->view->dtype->name);
  const auto bits = static_cast<std::uint32_t>(to_f32(code_at(bytes_of(tensor), 0, format.width), format));
  const float value = std::bit_cast<float>(bits);
  return reciprocal ? 1.0F / value : value;
}

/// Scans the tensors of one layer.
class LayerScan {
 public:
  LayerScan(const FoundGroup& layer_group, const FoundLayer& layer, Depth depth)
      : layer_group_(layer_group), form_(*layer_group.form), layer_(layer), depth_(depth) {
    for (const FoundTensor& tensor : layer.experts) note(tensor);
    for (const FoundTensor& tensor : layer.aside) note(tensor);
  }

  std::vector<ScannedFault> run() {
    std::vector<const FoundTensor*> tensors;
    for (const FoundTensor& tensor : layer_.experts) tensors.push_back(&tensor);
    for (const FoundTensor& tensor : layer_.aside) tensors.push_back(&tensor);
    std::vector<std::vector<ScannedFault>> found(tensors.size());
    support::Rescue rescue;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < tensors.size(); ++i) rescue.run([&] { found[i] = scan(*tensors[i]); });
    rescue.rethrow();
    for (std::vector<ScannedFault>& of_tensor : found) {
      for (ScannedFault& fault : of_tensor) add(std::move(fault));
    }
    look_for_companions();
    for (const auto& [place, companions] : places_) look_at_factors(companions);
    look_at_halves(ValueFault::unlike_halves, Piece::global_scale, &Companions::global);
    look_at_halves(ValueFault::unlike_inputs, Piece::aside, &Companions::aside);
    for (const bool w13 : {true, false}) look_at_inputs(w13);
    return std::move(faults_);
  }

 private:
  void note(const FoundTensor& tensor) {
    Companions& companions = places_[{tensor.expert, tensor.projection}];
    if (tensor.row->piece == Piece::weight) companions.weight = &tensor;
    if (tensor.row->piece == Piece::global_scale) companions.global = &tensor;
    if (tensor.row->piece == Piece::aside) companions.aside = &tensor;
  }

  /// Faults of tensors with one number are one fault.
  void add(ScannedFault fault) {
    const auto like = std::ranges::find_if(faults_, [&](const ScannedFault& other) {
      return fault.first.empty() && other.first.empty() && other.fault == fault.fault && other.piece == fault.piece;
    });
    if (like == faults_.end()) {
      faults_.push_back(std::move(fault));
    } else {
      like->count += fault.count;
    }
  }

  std::vector<ScannedFault> scan(const FoundTensor& tensor) const {
    switch (tensor.row->piece) {
      case Piece::weight: return scan_codes(tensor);
      case Piece::scale:
      case Piece::global_scale:
      case Piece::aside: return scan_scales(tensor);
      case Piece::bias: break;
    }
    return scan_bias(tensor);
  }

  static ScannedFault fault_of(ValueFault fault, const FoundTensor& tensor, const Tally& tally) {
    return {fault, tensor.row->piece, std::string(tensor.name), tally.count, place_in(tensor.at->view->shape, tally.first)};
  }

  /// FP8 codes may be NaN; codes of four bits are all numbers. What is not quantized has infinities too.
  std::vector<ScannedFault> scan_codes(const FoundTensor& tensor) const {
    if (depth_ == Depth::scales) return {};
    if (is_plain(tensor.at->view->dtype->name)) return scan_plain(tensor);
    if (tensor.at->view->dtype->name != "F8_E4M3") return {};
    constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7FU, kOnes = 0x0101010101010101U, kHigh = 0x8080808080808080U;
    Tally nan;
    TensorPieces(tensor).each([&](Bytes bytes, std::uint64_t first) {
      for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::size_t count = std::min<std::size_t>(8, bytes.size() - at);
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, count);
        if ((((word & kLow) + kOnes) & kHigh) == 0) continue;
        for (std::size_t i = at; i < at + count; ++i) {
          if ((bytes[i] & 0x7FU) == 0x7FU) nan.add(static_cast<std::int64_t>(first + i));
        }
      }
    });
    if (nan.count == 0) return {};
    return {fault_of(ValueFault::not_a_number, tensor, nan)};
  }

  /// Numbers as they are: those whose exponent is all ones.
  static std::vector<ScannedFault> scan_plain(const FoundTensor& tensor) {
    const Format& format = scale_format(tensor.at->view->dtype->name);
    const auto width = static_cast<std::size_t>(format.width / 8);
    const std::uint32_t top = ((1U << format.exponent_bits) - 1) << format.mantissa_bits;
    Tally nan, inf;
    TensorPieces(tensor).each([&](Bytes bytes, std::uint64_t first) {
      for (std::size_t at = 0; at < bytes.size() / width; ++at) {
        const std::uint32_t code = code_at(bytes, at, format.width);
        if ((code & top) != top) continue;
        ((code & ((1U << format.mantissa_bits) - 1)) != 0 ? nan : inf).add(static_cast<std::int64_t>(first / width + at));
      }
    });
    std::vector<ScannedFault> faults;
    if (nan.count > 0) faults.push_back(fault_of(ValueFault::not_a_number, tensor, nan));
    if (inf.count > 0) faults.push_back(fault_of(ValueFault::infinite, tensor, inf));
    return faults;
  }

  /// Of numbers that may be negative or 0 by right.
  std::vector<ScannedFault> scan_bias(const FoundTensor& tensor) const {
    std::vector<ScannedFault> faults;
    for (ScannedFault& fault : scan_scales(tensor)) {
      if (spoils(fault.fault)) faults.push_back(std::move(fault));
    }
    return faults;
  }

  std::vector<ScannedFault> scan_scales(const FoundTensor& tensor) const {
    // A shape, not a scale.
    if (tensor.at->view->dtype->bits > 32) return {};
    const Format& format = scale_format(tensor.at->view->dtype->name);
    const auto width = static_cast<std::size_t>(format.width / 8);
    const FoundTensor* const weight = places_.at({tensor.expert, tensor.projection}).weight;
    std::optional<TensorPieces> codes;
    if (weight != nullptr && depth_ == Depth::weights) codes.emplace(*weight);
    Tally nan, inf, zero, negative, subnormal;
    const auto look = [&](const Number& number, std::int64_t at) {
      if (number.nan) nan.add(at);
      if (number.inf) inf.add(at);
      if (number.zero && codes && counts_for_codes(tensor) && over_codes(tensor, at, *weight, *codes)) zero.add(at);
      if (number.negative) negative.add(at);
      if (number.subnormal) subnormal.add(at);
    };
    std::array<Number, 256> numbers;  // of formats of one byte
    std::array<std::uint8_t, 256> odd{};
    // Those that are not odd are neighbours: exponents below 255, e4m3 from its least normal number to its largest.
    std::uint8_t low = 255, high = 0;
    for (std::uint32_t code = 0; width == 1 && code < 256; ++code) {
      numbers[code] = number_of(format, code);
      const Number& number = numbers[code];
      odd[code] = number.nan || number.inf || number.zero || number.negative || number.subnormal ? 1 : 0;
      if (odd[code] == 0) low = std::min(low, static_cast<std::uint8_t>(code));
      if (odd[code] == 0) high = static_cast<std::uint8_t>(code);
    }
    constexpr std::size_t kRun = 64;
    TensorPieces pieces(tensor);
    pieces.each([&](Bytes bytes, std::uint64_t first) {
      const auto before = static_cast<std::int64_t>(first / width);
      const std::size_t count = bytes.size() / width;
      for (std::size_t run = 0; run < count; run += kRun) {
        const std::size_t end = std::min(count, run + kRun);
        if (width == 1) {
          // Most runs have nothing odd.
          std::uint8_t least = 255, most = 0;
#pragma omp simd reduction(min : least) reduction(max : most)
          for (std::size_t at = run; at < end; ++at) {
            least = std::min(least, bytes[at]);
            most = std::max(most, bytes[at]);
          }
          if (least >= low && most <= high) continue;
        }
        for (std::size_t at = run; at < end; ++at) {
          const std::int64_t place = before + static_cast<std::int64_t>(at);
          if (width > 1) {
            look(number_of(format, code_at(bytes, at, format.width)), place);
          } else if (odd[bytes[at]] != 0) {
            look(numbers[bytes[at]], place);
          }
        }
      }
    });
    const auto count = static_cast<std::int64_t>(pieces.size() / width);
    // Small blocks have subnormal scales by right; a tensor of them has a global scale that leaves no room, or no weights at all.
    if (width == 1 && (2 * subnormal.count <= count || (is_one_number(tensor) && !has_codes(weight, codes)))) subnormal.count = 0;
    std::vector<ScannedFault> faults;
    const std::array<std::pair<ValueFault, const Tally*>, 5> all{{{ValueFault::not_a_number, &nan},
                                                                  {ValueFault::infinite, &inf},
                                                                  {ValueFault::zero_over_codes, &zero},
                                                                  {ValueFault::negative, &negative},
                                                                  {ValueFault::subnormal, &subnormal}}};
    for (const auto& [fault, tally] : all) {
      if (tally->count > 0) faults.push_back(fault_of(fault, tensor, *tally));
    }
    return faults;
  }

  static bool is_one_number(const FoundTensor& tensor) {
    std::optional<std::uint8_t> first;
    bool one = true;
    TensorPieces(tensor).each([&](Bytes bytes, std::uint64_t) {
      if (!first) first = bytes.front();
      one = one && std::ranges::all_of(bytes, [&](std::uint8_t byte) { return byte == *first; });
    });
    return one;
  }
  /// False also where the weights are not read.
  static bool has_codes(const FoundTensor* weight, std::optional<TensorPieces>& codes) {
    return weight != nullptr && codes && codes->any(0, codes->size(), 0x7F);
  }

  /// Codes of int4 have an offset: what is 0 is no byte of zeros.
  bool counts_for_codes(const FoundTensor& tensor) const {
    return (tensor.row->piece == Piece::scale || tensor.row->piece == Piece::global_scale) && form_.form.format != WeightFormat::int4;
  }

  /// Whether a code that the scale counts for is not 0.
  bool over_codes(const FoundTensor& scale, std::int64_t at, const FoundTensor& weight, TensorPieces& codes) const {
    const std::uint8_t mask = codes_of(form_, weight).magnitude;
    return std::ranges::any_of(covered_runs(form_, scale, at, weight), [&](const CodeRun& run) {
      return codes.any(static_cast<std::uint64_t>(run.first), static_cast<std::uint64_t>(run.count), mask);
    });
  }

  /// Scales of activations that are there for some and not for others, or that the scheme cannot do without.
  void look_for_companions() {
    for (const TensorRow& row : form_.tensors) {
      if (row.piece != Piece::aside || row.companion == Companion::optional) continue;
      if (row.companion == Companion::of_all && layer_.aside.empty()) continue;
      ScannedFault fault{ValueFault::missing, Piece::aside, {}, 0, {}};
      for (const auto& [place, companions] : places_) {
        if (companions.aside != nullptr) continue;
        if (fault.count++ == 0) fault.tensor = layer_group_.name_of(layer_.prefix, place.first, *place.second, row);
      }
      if (fault.count > 0) add(std::move(fault));
    }
  }

  /// What the engine computes of the numbers that count for a whole tensor.
  void look_at_factors(const Companions& companions) {
    std::optional<float> weight, input;
    if (companions.global != nullptr && holds_one(*companions.global)) {
      const bool reciprocal = companions.global->row->meaning == Meaning::reciprocal;
      weight = checked(*companions.global, factor_of(*companions.global, reciprocal), reciprocal);
    }
    if (companions.aside != nullptr && holds_one(*companions.aside)) {
      // Kernels multiply by the reciprocal of a scale; where that is stored, the scale is the reciprocal.
      const float stored = factor_of(*companions.aside, false);
      if (checked(*companions.aside, 1.0F / stored, true)) input = companions.aside->row->meaning == Meaning::reciprocal ? 1.0F / stored : stored;
    }
    if (!weight || !input) return;
    const float product = *weight * *input;
    const Tally one{1, 0};
    if (std::isinf(product)) add(fault_of(ValueFault::factor_infinite, *companions.global, one));
    if (product == 0 && *weight != 0 && *input != 0) add(fault_of(ValueFault::factor_zero, *companions.global, one));
  }

  /// The factor, where it is a number that is not 0; else the fault is noted, unless the file itself has it.
  std::optional<float> checked(const FoundTensor& tensor, float factor, bool computed) {
    if (std::isnan(factor)) return std::nullopt;
    const Tally one{1, 0};
    if (std::isinf(factor)) {
      if (computed) add(fault_of(ValueFault::factor_infinite, tensor, one));
      return std::nullopt;
    }
    if (factor != 0) return factor;
    if (computed) add(fault_of(ValueFault::factor_zero, tensor, one));
    return std::nullopt;
  }

  /// What stands beside gate's tensors, for a place of up; null for any other.
  const Companions* gate_beside(const Place& place) const {
    if (!layer_group_.gated || !place.second->w13 || place.second->half != 1) return nullptr;
    const auto gate = std::ranges::find_if(layer_group_.naming->projections, [](const Projection& one) { return one.w13 && one.half == 0; });
    const auto found = places_.find({place.first, &*gate});
    return found == places_.end() ? nullptr : &found->second;
  }

  /// A tensor of gate and the one of up that should have its bytes.
  void look_at_halves(ValueFault fault, Piece piece, const FoundTensor* Companions::*tensor) {
    ScannedFault found{fault, piece, {}, 0, {}};
    for (const auto& [place, companions] : places_) {
      const Companions* const gate = gate_beside(place);
      if (gate == nullptr || companions.*tensor == nullptr || gate->*tensor == nullptr) continue;
      if (bytes_of(*(companions.*tensor)) == bytes_of(*(gate->*tensor))) continue;
      if (found.count++ == 0) found.tensor = (companions.*tensor)->name;
    }
    if (found.count > 0) add(std::move(found));
  }

  /// Scales of activations of a product: calibrated with at most 448 (times 6 in blocks), which the largest scale S makes 448 s / S. From the tie
  /// with half of e4m3's smallest number, 2^-10, on it is 0. A scale that makes 0 of fp16's largest number does so whatever the others are.
  void look_at_inputs(bool w13) {
    constexpr double kToZero = 448 * 1024, kLargest = 65504 * 1024;
    std::vector<double> scales;
    double largest = 0;
    const FoundTensor* from = nullptr;
    for (const auto& [place, companions] : places_) {
      if (companions.aside == nullptr || place.second->w13 != w13 || !holds_one(*companions.aside)) continue;
      const double scale = factor_of(*companions.aside, companions.aside->row->meaning == Meaning::reciprocal);
      if (!std::isfinite(scale)) continue;
      scales.push_back(scale);
      if (scale > largest) from = companions.aside;
      largest = std::max(largest, scale);
    }
    const auto small = std::ranges::count_if(scales, [&](double scale) { return largest >= kToZero * scale; });
    const double most = layout::group_of(form_.form.format) > 0 ? kLargest / 6 : kLargest;
    if (from != nullptr && (largest >= most || 2 * small >= std::ssize(scales))) add(fault_of(ValueFault::inputs_to_zero, *from, {1, 0}));
  }

  const FoundGroup& layer_group_;
  const SourceForm& form_;
  const FoundLayer& layer_;
  Depth depth_;
  std::map<Place, Companions> places_;
  std::vector<ScannedFault> faults_;
};

}  // namespace

std::vector<ScannedFault> scan_layer(const FoundGroup& layer_group, const FoundLayer& layer, Depth depth) {
  return LayerScan(layer_group, layer, depth).run();
}

}  // namespace mx::checkpoint
