// The C API of integers with a scale and a zero point.

#include "model/numerics/affine.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "golden/c/calls.hpp"
#include "model/numerics/kept_texts.hpp"

namespace {

using namespace mx::golden::c_api;

struct OwnAffine {
  std::string name;
  mx::AffineRules rules;
};

/// Rules that were asked for, by their ids.
class KeptAffine {
 public:
  std::int32_t id_of(std::string_view text) {
    const mx::AffineRules rules = mx::affine_rules(text);
    std::string name = mx::text_of(rules);
    const std::scoped_lock lock(mutex_);
    if (kept_.find(name) == nullptr) kept_.add({name, rules});
    return *kept_.number(name);
  }
  mx::AffineRules rules_of(std::int32_t id) {
    const std::scoped_lock lock(mutex_);
    const OwnAffine* const row = kept_.at(id);
    require(row != nullptr, "no such id");
    return row->rules;
  }

 private:
  std::mutex mutex_;
  mx::rules::KeptTexts<OwnAffine> kept_{"rules of integers"};
};

KeptAffine& kept_affine() {
  static KeptAffine kept;
  return kept;
}

std::uint32_t low_bits(std::int64_t number, int width) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) & ((std::uint64_t{1} << width) - 1U));
}

std::int64_t number_of(std::uint32_t bits, const mx::Integer& integer) {
  require(integer.width == 32 || bits >> integer.width == 0, "bits above the integer's width");
  const bool negative = integer.has_sign && (bits >> (integer.width - 1) & 1U) != 0;
  return std::int64_t{bits} - (negative ? std::int64_t{1} << integer.width : 0);
}

}  // namespace

extern "C" {

std::int32_t mxact_affine_id(const char* name) {
  return id_or_status(name, [](std::string_view text) { return kept_affine().id_of(text); });
}

std::int32_t mxact_quantize_affine(std::int32_t affine, const std::uint32_t* x, std::size_t count, std::uint32_t* scale, std::uint32_t* zero,
                                   std::uint32_t* codes) {
  return guarded([&] {
    require(scale != nullptr && zero != nullptr && codes != nullptr, "a null pointer");
    const mx::AffineRules rules = kept_affine().rules_of(affine);
    const mx::AffineBlock made = mx::quantize(lanes_of(x, count, MXACT_MOST_BLOCK), rules);
    *scale = made.scale;
    *zero = low_bits(made.zero, rules.zero ? rules.zero->width : rules.element.width);
    std::ranges::transform(made.codes, codes, [&](std::int32_t code) { return low_bits(code, rules.element.width); });
  });
}

std::int32_t mxact_dequantize_affine(std::int32_t affine, std::int32_t target, std::uint32_t scale, std::uint32_t zero, const std::uint32_t* codes,
                                     std::size_t count, std::uint32_t* result) {
  return guarded([&] {
    require(result != nullptr, "a null pointer");
    const mx::AffineRules rules = kept_affine().rules_of(affine);
    const mx::Format& to = format_of(target);
    require_code(scale, *rules.scale);
    const std::int64_t point = number_of(zero, rules.zero.value_or(rules.element));
    require(rules.zero || point == mx::middle_code(rules), "another zero point than the middle, which is the one of these rules");
    const auto all = lanes_of(codes, count, MXACT_MOST_BLOCK);
    std::vector<std::uint32_t> made;
    for (const std::uint32_t code : all) made.push_back(mx::dequantize(number_of(code, rules.element), point, scale, rules, to));
    std::ranges::copy(made, result);
  });
}

}  // extern "C"
