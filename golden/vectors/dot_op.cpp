// Dot products under a declared contract.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/dot_neighbours.hpp"
#include "golden/vectors/dot_operand_c.hpp"
#include "golden/vectors/dot_subject.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/words.hpp"
#include "model/error.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "dot";
constexpr std::string_view kPrefix = "dot_";
constexpr std::array<std::string_view, 3> kTaken{"contract", "length", "operand-c"};
constexpr std::int64_t kLongest = 1024;
constexpr int kPlainLength = 32;
constexpr std::size_t kSumAxis = 2;

const std::vector<SideFormat>& side_formats() {
  static const std::vector<SideFormat> kSides = [] {
    std::vector<SideFormat> sides;
    for (const Format& format : factor_formats()) {
      // mxint8 without a scale is nothing that anyone multiplies; its block format has the name.
      if (format.width <= kTf32.width && format.encoding == Encoding::floating) sides.push_back({format.name, &format, nullptr, 0});
    }
    for (const BlockFormat& format : all_block_formats()) {
      if (format.block > 0 && format.block_rows == 1) sides.push_back({format.name, format.element, format.scale, format.block});
    }
    return sides;
  }();
  return kSides;
}

std::uint32_t sum_of(const DotSubject& subject, Lanes operands) { return dot_of(subject, row_of(subject.contract), operands); }

/// Whether two answers are other numbers; zeros of any sign are one.
bool differ(std::uint32_t a, std::uint32_t b) { return a != b && ((a | b) & 0x7FFFFFFFU) != 0; }

class DotOp final : public VectorOp {
 public:
  DotOp(std::string name, const DotSubject& subject, Edition edition);

  void evaluate(Lanes operands, MutableLanes results) const override { results[0] = sum_of(subject_, operands); }
  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override;
  std::string why_unreachable(std::size_t axis, std::size_t bin) const override;
  void directed(const std::function<void(Lanes)>& sink) const override;
  void random(support::SplitMix64& random, MutableLanes operands) const override;
  std::string_view kind(Lanes operands, Lanes right) const override;
  std::vector<WrongRule> wrong_rules() const override;

 private:
  void add_rivals();
  void rival_bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const;
  std::uint32_t one(const SideFormat& side) const;
  void fill_scales(MutableLanes operands, std::uint32_t a, std::uint32_t b) const;
  MutableLanes a_of(MutableLanes operands) const { return operands.subspan(subject_.scales_of(subject_.a), subject_.length); }
  MutableLanes b_of(MutableLanes operands) const { return operands.subspan(subject_.b_begins() + subject_.scales_of(subject_.b), subject_.length); }
  void directed_products(const std::function<void(Lanes)>& sink) const;
  void directed_patterns(std::vector<std::uint32_t>& operands, const std::function<void(Lanes)>& sink) const;
  void directed_specials(std::vector<std::uint32_t>& operands, const std::function<void(Lanes)>& sink) const;
  std::size_t nonzero_products(Lanes operands, std::size_t& last) const;

  DotSubject subject_;
  std::size_t first_rival_ = 0;           ///< axis of the first rival
  std::vector<DotRival> rivals_;          ///< an axis each
  std::vector<OperandCRival> c_rivals_;   ///< an axis each, behind those
  std::vector<DotNeighbour> neighbours_;  ///< likewise
};

DotOp::DotOp(std::string name, const DotSubject& subject, Edition edition) : VectorOp(std::move(name), kFamily, edition), subject_(subject) {
  const auto add = [&](const char* letter, const SideFormat& side) {
    const auto count = static_cast<int>(subject_.scales_of(side));
    if (count > 0) operands_.push_back({fmt::format("{}_scale", letter), count, side.scale->width, side.scale});
    operands_.push_back({letter, static_cast<int>(subject_.length), side.element->width, side.element});
  };
  add("a", subject_.a);
  add("b", subject_.b);
  if (subject_.has_c) operands_.push_back({"c", 1, 32, &kF32});
  results_ = {{"r", 1, 32, &kF32}};
  settings_ = {{"contract", subject_.contract_name}, {"length", std::to_string(subject_.length)}};
  if (subject_.has_c) settings_.push_back({"operand-c", "yes"});
  std::vector<std::string> places;
  for (std::size_t k = 0; k < std::min<std::size_t>(subject_.length, 254); ++k) places.push_back(fmt::format("k = {} alone", k));
  axes_ = {{"result", number_classes()}, {"alone", places}, {"sum", {"cancels to zero", "cancels in part", "does not cancel"}}};
  if (subject_.has_c) axes_.push_back({"operand C", operand_c_bins()});
  first_rival_ = axes_.size();
  if (edition != Edition::v1) add_rivals();
}

void DotOp::add_rivals() {
  rivals_ = dot_rivals(subject_);
  c_rivals_ = operand_c_rivals(subject_);
  for (const DotRival& rival : rivals_) axes_.push_back({fmt::format("told from {}", rival.name), {"yes"}});
  for (const OperandCRival& rival : c_rivals_) axes_.push_back({fmt::format("told from {}", rival.name), {"yes"}});
  neighbours_ = dot_neighbours(subject_);
  for (const DotNeighbour& neighbour : neighbours_) axes_.push_back({fmt::format("told from {}", neighbour.change), {"yes"}});
}

void DotOp::rival_bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const {
  std::ranges::fill(bins, std::uint8_t{0});
  const auto told = [&](std::uint32_t sum) { return differ(sum, results[0]) ? std::uint8_t{1} : std::uint8_t{0}; };
  for (std::size_t i = 0; i < c_rivals_.size(); ++i) bins[rivals_.size() + i] = told(c_rivals_[i].sum(subject_, operands));
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    bins[rivals_.size() + c_rivals_.size() + i] = is_told(subject_, neighbours_[i], operands, results[0]) ? 1 : 0;
  const std::vector<Value> products = rivals_.empty() ? std::vector<Value>{} : products_of(subject_, operands);
  if (products.empty()) return;
  for (std::size_t i = 0; i < rivals_.size(); ++i) bins[i] = told(rivals_[i].sum(products, subject_.c_of(operands)));
}

std::uint32_t DotOp::one(const SideFormat& side) const {
  constexpr Conversion kCut{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  Flags flags;
  return encode(Value{1, 0, ValueClass::finite, false}, *side.element, kCut, flags);
}

std::size_t DotOp::nonzero_products(Lanes operands, std::size_t& last) const {
  const Lanes a = operands.subspan(subject_.scales_of(subject_.a), subject_.length);
  const Lanes b = operands.subspan(subject_.b_begins() + subject_.scales_of(subject_.b), subject_.length);
  std::size_t count = 0;
  for (std::size_t k = 0; k < subject_.length; ++k) {
    if (decode(*subject_.a.element, a[k]).cls == ValueClass::zero || decode(*subject_.b.element, b[k]).cls == ValueClass::zero) continue;
    ++count;
    last = k;
  }
  return count;
}

void DotOp::bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const {
  std::size_t last = 0;
  const std::size_t nonzero = nonzero_products(operands, last);
  bins[0] = number_class(results[0], kF32);
  bins[1] = nonzero == 1 && last < axes_[1].bins.size() ? static_cast<std::uint8_t>(last + 1) : std::uint8_t{0};
  bins[kSumAxis] = 0;
  rival_bins(operands, results, bins.subspan(first_rival_));
  const std::uint32_t products = subject_.has_c ? dot_without_c(subject_, row_of(subject_.contract), operands) : results[0];
  if (subject_.has_c) bins[kSumAxis + 1] = operand_c_bin(operands.back(), results[0], products);
  const Value sum = decode(kF32, products);
  if (nonzero < 2 || sum.cls == ValueClass::nan || sum.cls == ValueClass::infinity) return;
  bool positive = false;
  bool negative = false;
  const Lanes a = operands.subspan(subject_.scales_of(subject_.a), subject_.length);
  const Lanes b = operands.subspan(subject_.b_begins() + subject_.scales_of(subject_.b), subject_.length);
  for (std::size_t k = 0; k < subject_.length; ++k) {
    const Value product = exact_product(decode(*subject_.a.element, a[k]), decode(*subject_.b.element, b[k]));
    if (product.cls != ValueClass::finite) continue;
    (product.negative ? negative : positive) = true;
  }
  bins[kSumAxis] = sum.cls == ValueClass::zero && positive && negative ? 1 : positive && negative ? 2 : 3;
}

std::string DotOp::why_unreachable(std::size_t axis, std::size_t bin) const {
  if (axis == 0) return fmt::format("contract {} gives no such number for {} by {}", subject_.contract_name, subject_.a.name, subject_.b.name);
  if (subject_.has_c && axis == kSumAxis + 1) return fmt::format("contract {} gives no such sum for any C that was tried", subject_.contract_name);
  if (axis >= first_rival_) {
    const std::size_t at = axis - first_rival_;
    const std::size_t behind = rivals_.size() + c_rivals_.size();
    const std::string why = at < rivals_.size() ? why_same_sum(subject_, rivals_[at])
                            : at < behind       ? why_same_place(subject_, c_rivals_[at - rivals_.size()])
                                                : why_same_neighbour(subject_, neighbours_[at - behind]);
    return why.empty() ? fmt::format("no sum of {} products was found that it gives otherwise", subject_.length) : why;
  }
  return fmt::format("no two codes of {} and {} make '{}'", subject_.a.name, subject_.b.name, axes_[axis].bins[bin]);
}

void DotOp::fill_scales(MutableLanes operands, std::uint32_t a, std::uint32_t b) const {
  std::ranges::fill(operands.first(subject_.scales_of(subject_.a)), a);
  std::ranges::fill(operands.subspan(subject_.b_begins(), subject_.scales_of(subject_.b)), b);
}

void DotOp::directed_patterns(std::vector<std::uint32_t>& operands, const std::function<void(Lanes)>& sink) const {
  const Format& fa = *subject_.a.element;
  const Format& fb = *subject_.b.element;
  const MutableLanes a = a_of(operands);
  const MutableLanes b = b_of(operands);
  const auto all = [&](std::uint32_t code_a, std::uint32_t code_b) {
    std::ranges::fill(a, code_a);
    std::ranges::fill(b, code_b);
  };
  const std::array largest{max_finite_code(fa), max_finite_code(fb)};
  const std::array ones{one(subject_.a), one(subject_.b)};
  for (const auto& [code_a, code_b] : {largest, ones, std::array{1U, 1U}, std::array{1U, largest[1]}, std::array{0U, largest[1]}}) {
    all(code_a, code_b);
    sink(operands);
    for (std::size_t k = 1; k < a.size(); k += 2) a[k] = negated(a[k], fa);  // every two cancel
    sink(operands);
    a[0] = 0;
    sink(operands);
  }
  // One product that stands alone, and one that is small beside the others: a device that cuts it off shows where.
  for (std::size_t k = 0; k < a.size(); ++k) {
    all(0, ones[1]);
    a[k] = k % 2 == 0 ? ones[0] : negated(ones[0], fa);
    sink(operands);
    all(largest[0], largest[1]);
    for (std::size_t i = 1; i < a.size(); i += 2) a[i] = negated(a[i], fa);
    a[k] = 1;
    b[k] = 1;
    sink(operands);
  }
  // Every code somewhere, in steps that no power of two divides.
  for (std::uint32_t step : {1U, 3U, 5U, 7U}) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = static_cast<std::uint32_t>(k * step) % (largest[0] + 1U);
      if (k % 3 == 0) a[k] = negated(a[k], fa);
      b[k] = static_cast<std::uint32_t>(k * step * 2U + 1U) % (largest[1] + 1U);
    }
    sink(operands);
  }
}

void DotOp::directed_specials(std::vector<std::uint32_t>& operands, const std::function<void(Lanes)>& sink) const {
  const auto try_codes = [&](MutableLanes side, const Format& format) {
    for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
      if (!is_nan_code(format, code) && !is_inf_code(format, code)) continue;
      if (format.width > 8 && (code & 0xFFU) != 0 && (code & 0xFFU) != 0x80U) continue;
      for (std::size_t k : {std::size_t{0}, side.size() / 2, side.size() - 1}) {
        const std::uint32_t kept = std::exchange(side[k], code);
        sink(operands);
        side[k] = kept;
      }
    }
  };
  std::ranges::fill(a_of(operands), one(subject_.a));
  std::ranges::fill(b_of(operands), one(subject_.b));
  try_codes(a_of(operands), *subject_.a.element);
  try_codes(b_of(operands), *subject_.b.element);
}

void DotOp::directed(const std::function<void(Lanes)>& sink) const {
  if (!subject_.has_c) return directed_products(sink);
  std::size_t turn = 0;
  std::vector<std::uint32_t> with_c;
  directed_products([&](Lanes operands) {
    with_c.assign(operands.begin(), operands.end());
    with_c.back() = c_beside(dot_without_c(subject_, row_of(subject_.contract), operands), turn++);
    sink(with_c);
  });
  deciding_operand_c(subject_, sink);
  deciding_neighbours(subject_, sink);
}

/// All operands but C, which is zero.
void DotOp::directed_products(const std::function<void(Lanes)>& sink) const {
  std::vector<std::uint32_t> operands(lane_count(operands_));
  fill_scales(operands, scale_of_one(subject_.a.scale), scale_of_one(subject_.b.scale));
  directed_patterns(operands, sink);
  directed_specials(operands, sink);
  std::ranges::fill(a_of(operands), one(subject_.a));
  std::ranges::fill(b_of(operands), max_finite_code(*subject_.b.element));
  const auto scales = [&](const SideFormat& side) {
    if (side.scale == nullptr) return std::vector<std::uint32_t>{0};
    if (side.scale->width == 8) return std::vector<std::uint32_t>{0, 1, 2, 0x38, 0x7E, 0x7F, 0x80, 0xFD, 0xFE, 0xFF};
    return std::vector<std::uint32_t>{0x00000000, 0x00000001, 0x00800000, 0x3F800000, 0xBFC00001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000};
  };
  for (std::uint32_t scale_a : scales(subject_.a)) {
    for (std::uint32_t scale_b : scales(subject_.b)) {
      fill_scales(operands, scale_a, scale_b);
      sink(operands);
    }
  }
  // Scales of one block each: whoever takes the first for all shows it.
  fill_scales(operands, scale_of_one(subject_.a.scale), scale_of_one(subject_.b.scale));
  for (std::size_t i = 0; i < subject_.scales_of(subject_.a); ++i) operands[i] = scale_of_one(subject_.a.scale) + static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < subject_.scales_of(subject_.b); ++i)
    operands[subject_.b_begins() + i] = scale_of_one(subject_.b.scale) + static_cast<std::uint32_t>(2 * i);
  sink(operands);
  if (edition() != Edition::v1) deciding_dots(subject_, sink);
  if (edition() != Edition::v1 && !subject_.has_c) deciding_neighbours(subject_, sink);
}

void DotOp::random(support::SplitMix64& random, MutableLanes operands) const {
  const auto draw = [&](const Format& format) { return static_cast<std::uint32_t>(random.next() >> (64 - format.width)); };
  const auto fill_side = [&](const SideFormat& side, MutableLanes scales, MutableLanes elements) {
    // Scales around 1: at both ends of their range sums are zero or infinite and tell nothing.
    for (std::uint32_t& scale : scales) scale = scale_of_one(side.scale) + static_cast<std::uint32_t>(random.next() % 9U) - 4U;
    for (std::uint32_t& element : elements) {
      do {
        element = draw(*side.element);
      } while (is_nan_code(*side.element, element) || is_inf_code(*side.element, element));
    }
  };
  fill_side(subject_.a, operands.first(subject_.scales_of(subject_.a)), a_of(operands));
  fill_side(subject_.b, operands.subspan(subject_.b_begins(), subject_.scales_of(subject_.b)), b_of(operands));
  if (subject_.has_c) operands.back() = random_c(dot_without_c(subject_, row_of(subject_.contract), operands), random);
}

std::string_view DotOp::kind(Lanes operands, Lanes right) const {
  std::size_t last = 0;
  if (decode(kF32, right[0]).cls == ValueClass::nan) return "NaN sum";
  if (decode(kF32, right[0]).cls == ValueClass::infinity) return "infinite sum";
  const std::size_t nonzero = nonzero_products(operands, last);
  const bool has_c = subject_.has_c && (operands.back() & 0x7FFFFFFFU) != 0;
  if (has_c) return nonzero == 0 ? "C alone" : decode(kF32, right[0]).cls == ValueClass::zero ? "full cancellation with C" : "sum of products and C";
  if (nonzero < 2) return nonzero == 0 ? "no product" : "one product alone";
  return decode(kF32, right[0]).cls == ValueClass::zero ? "full cancellation" : "sum of products";
}

std::vector<WrongRule> DotOp::wrong_rules() const {
  std::vector<WrongRule> rules;
  for (const ContractRow& row : all_contracts()) {
    if (row.contract == subject_.contract) continue;
    rules.push_back({FaultClass::rounding, fmt::format("contract {}", row.name),
                     [row, subject = subject_](Lanes operands, Lanes, MutableLanes answer) { answer[0] = dot_of(subject, row, operands); }});
  }
  for (const std::vector<DotNeighbour>& neighbours : {dot_neighbours(subject_), second_neighbours(subject_)}) {
    for (const DotNeighbour& neighbour : neighbours) {
      rules.push_back({FaultClass::rounding, fmt::format("{}: record {}", neighbour.change, name_of(neighbour.contract)),
                       [contract = neighbour.contract, subject = subject_](Lanes operands, Lanes, MutableLanes answer) {
                         answer[0] = dot_of(subject, row_of(contract), operands);
                       }});
    }
  }
  std::vector<DotRival> rivals = dot_rivals(subject_);
  for (DotRival& rival : short_product_rivals(subject_)) rivals.push_back(std::move(rival));
  for (const DotRival& rival : rivals) {
    rules.push_back({FaultClass::rounding, rival.name, [rival, subject = subject_](Lanes operands, Lanes right, MutableLanes answer) {
                       const std::vector<Value> products = products_of(subject, operands);
                       answer[0] = products.empty() ? right[0] : rival.sum(products, subject.c_of(operands));
                     }});
  }
  for (WrongRule& rule : operand_c_rules(subject_)) rules.push_back(std::move(rule));
  const auto with_operands = [&](FaultClass cls, std::string name, const auto& change) {
    rules.push_back({cls, std::move(name), [change, subject = subject_](Lanes operands, Lanes, MutableLanes answer) {
                       std::vector<std::uint32_t> other(operands.begin(), operands.end());
                       change(subject, MutableLanes(other));
                       answer[0] = sum_of(subject, other);
                     }});
  };
  with_operands(FaultClass::order, "nibbles swapped: even and odd elements of b", [](const DotSubject& subject, MutableLanes lanes) {
    const MutableLanes b = lanes.subspan(subject.b_begins() + subject.scales_of(subject.b), subject.length);
    for (std::size_t k = 0; k + 1 < b.size(); k += 2) std::swap(b[k], b[k + 1]);
  });
  with_operands(FaultClass::scale, "the first scale of b for all blocks", [](const DotSubject& subject, MutableLanes lanes) {
    const MutableLanes scales = lanes.subspan(subject.b_begins(), subject.scales_of(subject.b));
    if (!scales.empty()) std::ranges::fill(scales, scales[0]);
  });
  with_operands(FaultClass::value, "the last product is missing",
                [](const DotSubject& subject, MutableLanes lanes) { lanes[subject.scales_of(subject.a) + subject.length - 1] = 0; });
  for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
  return rules;
}

}  // namespace

AskedContract contract_of(const OpOptions& options) {
  // Edition v1 was written before the lower bound of the tensor core's exponent was seen.
  const Contract asked = contract_named(options.get_or("contract", "exact"));
  const bool is_frozen = options.edition() == Edition::v1 && asked == Contract::hopper_bf16;
  return {std::string(mx::name_of(asked)), is_frozen ? Contract::hopper_bf16_v1 : asked};
}

std::vector<std::string> dot_names() {
  std::vector<std::string> names;
  for (const SideFormat& a : side_formats()) {
    for (const SideFormat& b : side_formats()) names.push_back(fmt::format("{}{}_{}", kPrefix, a.name, b.name));
  }
  return names;
}

std::unique_ptr<VectorOp> make_dot(std::string_view name, const OpOptions& options) {
  for (const SideFormat& a : side_formats()) {
    for (const SideFormat& b : side_formats()) {
      if (fmt::format("{}{}_{}", kPrefix, a.name, b.name) != name) continue;
      require_taken(name, options, kTaken);
      const int block = std::max(a.block, b.block);
      const std::int64_t length = options.number_or("length", block == 0 ? kPlainLength : block, 1, kLongest);
      if ((a.block > 0 && length % a.block != 0) || (b.block > 0 && length % b.block != 0)) {
        throw Error(ErrorCode::usage, fmt::format("--length {}: not a multiple of the block of {}", length, block));
      }
      const AskedContract asked = contract_of(options);
      const bool has_c = yes_or_no("operand-c", options.get_or("operand-c", "no"), "yes", "no");
      if (has_c && options.edition() == Edition::v1) throw Error(ErrorCode::usage, "--operand-c yes: edition v1 has no operand C, v1.1 has");
      const ContractRow& row = row_of(asked.contract);
      if (has_c && *row.addend != kF32)
        throw Error(ErrorCode::usage,
                    fmt::format("--operand-c yes: C of contract {} is {}, the column of vectors is fp32", row.name, row.addend->name));
      const DotSubject subject{a, b, asked.name, asked.contract, static_cast<std::size_t>(length), has_c};
      auto op = std::make_unique<DotOp>(std::string(name), subject, options.edition());
      // The contract says itself which formats and blocks it does not take.
      std::vector<std::uint32_t> zeros(lane_count(op->operands()));
      std::vector<std::uint32_t> result(1);
      op->evaluate(zeros, result);
      return op;
    }
  }
  return nullptr;
}

}  // namespace mx::golden
