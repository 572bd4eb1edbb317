#include "golden/vectors/dot_subject.hpp"

#include <algorithm>
#include <bit>

#include "golden/vectors/conversion_op.hpp"
#include "golden/vectors/dot_patterns.hpp"

namespace mx::golden {
namespace {

std::vector<Value> values_of(Lanes codes, const Format& format) {
  std::vector<Value> values;
  for (std::uint32_t code : codes) values.push_back(decode(format, code));
  return values;
}

PreparedOperand prepared_side(const ContractRow& row, Side side, const SideFormat& format, std::size_t scales, Lanes lanes) {
  const std::vector<Value> elements = values_of(lanes.subspan(scales), *format.element);
  const std::vector<Value> factors = scales > 0 ? values_of(lanes.first(scales), *format.scale) : std::vector<Value>{};
  return prepare(row, side, {.elements = elements, .format = format.element, .scales = factors, .block = format.block, .scale_format = format.scale});
}

}  // namespace

int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

std::uint32_t scale_of_one(const Format* scale) {
  if (scale == nullptr) return 0;
  return static_cast<std::uint32_t>(scale->bias) << scale->mantissa_bits;
}

std::uint32_t negated(std::uint32_t code, const Format& format) {
  if (!format.has_sign) return code;
  const std::uint32_t sign = 1U << (format.width - 1);
  return format.encoding == Encoding::fixed_point ? (0U - code) & (2U * sign - 1U) : code ^ sign;
}

std::vector<Value> products_of(const DotSubject& subject, Lanes operands) {
  const std::size_t scales_a = subject.scales_of(subject.a);
  const std::size_t scales_b = subject.scales_of(subject.b);
  std::vector<Value> products;
  for (std::size_t k = 0; k < subject.length; ++k) {
    Value product =
        exact_product(decode(*subject.a.element, operands[scales_a + k]), decode(*subject.b.element, operands[subject.b_begins() + scales_b + k]));
    if (scales_a > 0) product = exact_product(product, decode(*subject.a.scale, operands[k / static_cast<std::size_t>(subject.a.block)]));
    if (scales_b > 0)
      product = exact_product(product, decode(*subject.b.scale, operands[subject.b_begins() + k / static_cast<std::size_t>(subject.b.block)]));
    if (product.cls == ValueClass::nan || product.cls == ValueClass::infinity) return {};
    products.push_back(product);
  }
  return products;
}

DotSides prepared(const DotSubject& subject, const ContractRow& row, Lanes operands) {
  const std::size_t scales_a = subject.scales_of(subject.a);
  const std::size_t scales_b = subject.scales_of(subject.b);
  return {prepared_side(row, Side::a, subject.a, scales_a, operands.first(scales_a + subject.length)),
          prepared_side(row, Side::b, subject.b, scales_b, operands.subspan(subject.b_begins(), scales_b + subject.length))};
}

std::uint32_t dot_of(const DotSubject& subject, const ContractRow& row, Lanes operands) {
  const DotSides sides = prepared(subject, row, operands);
  return dot(row, sides.a, sides.b, {.c = subject.c_of(operands), .bias = {}});
}

std::uint32_t dot_without_c(const DotSubject& subject, const ContractRow& row, Lanes operands) {
  const DotSides sides = prepared(subject, row, operands);
  return dot(row, sides.a, sides.b, {});
}

DotPatterns::DotPatterns(const DotSubject& subject, const std::function<void(Lanes operands)>& sink)
    : subject_(&subject), sink_(&sink), operands_(subject.lanes()), range_a_(range_of(*subject.a.element)), range_b_(range_of(*subject.b.element)) {}

DotPatterns::Range DotPatterns::range_of(const Format& format) {
  const int low = format.encoding == Encoding::floating ? top_exponent(decode(format, 1U)) : -format.mantissa_bits;
  return {low, top_exponent(decode(format, max_finite_code(format)))};
}

void DotPatterns::clear() {
  std::ranges::fill(operands_, 0U);
  std::ranges::fill(scales(false), scale_of_one(subject_->a.scale));
  std::ranges::fill(scales(true), scale_of_one(subject_->b.scale));
}

void DotPatterns::place(std::size_t k, int exponent, bool negative) {
  const int of_a = std::clamp(exponent - range_b_.high, range_a_.low, range_a_.high);
  const int of_b = std::clamp(exponent - of_a, range_b_.low, range_b_.high);
  const auto code = [](const Format& format, int e) { return exact_code({1, e, ValueClass::finite, false}, format).value_or(0); };
  a()[k] = code(*subject_->a.element, of_a);
  b()[k] = code(*subject_->b.element, of_b);
  if (!negative) return;
  if (subject_->a.element->has_sign)
    a()[k] = negated(a()[k], *subject_->a.element);
  else
    b()[k] = negated(b()[k], *subject_->b.element);
}

MutableLanes DotPatterns::scales(bool of_b) {
  return of_b ? MutableLanes(operands_).subspan(subject_->b_begins(), subject_->scales_of(subject_->b))
              : MutableLanes(operands_).first(subject_->scales_of(subject_->a));
}

}  // namespace mx::golden
