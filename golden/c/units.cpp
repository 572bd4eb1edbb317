// The C API: operations, comparisons and integers of an arithmetic unit.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "golden/c/calls.hpp"
#include "golden/c/mxact.h"
#include "model/numerics/comparison.hpp"
#include "model/numerics/integer.hpp"
#include "model/numerics/operation.hpp"
#include "model/numerics/p3109.hpp"
#include "model/numerics/profile.hpp"

namespace {

using namespace mx::golden::c_api;

static_assert(MXACT_FLAG_INEXACT == 1 && MXACT_FLAG_UNDERFLOW == 2 && MXACT_FLAG_OVERFLOW == 4 && MXACT_FLAG_DIVIDE_BY_ZERO == 8 &&
              MXACT_FLAG_INVALID == 16);  // as flag_bits(IeeeFlags) has them

mx::Random random_of(const mx::Conversion& how, std::uint32_t random) {
  require(how.random_bits > 0 || random == 0, "random bits for a rounding that takes none");
  return how.random_bits > 0 ? mx::Random(random) : std::nullopt;
}

/// An id holds the integer itself, and its rules: nothing is kept.
struct IntegerId {
  mx::Integer integer;
  std::optional<std::pair<mx::Rounding, mx::OutOfRange>> rules;
};
constexpr int kWidthBits = 7, kRuleBits = 2, kRoundingBits = 5;

std::int32_t take(std::int32_t& id, int bits) {
  const std::int32_t field = id & ((1 << bits) - 1);
  id >>= bits;
  return field;
}

std::int32_t packed(const mx::Integer& integer) {
  return (integer.has_sign ? 1 : 0) | integer.width << 1 | integer.fraction_bits << (1 + kWidthBits);
}

IntegerId integer_of(std::int32_t id) {
  require(id >= 0, "no such id");
  IntegerId found{};
  found.integer.has_sign = take(id, 1) != 0;
  found.integer.width = take(id, kWidthBits);
  found.integer.fraction_bits = take(id, kWidthBits);
  const bool has_rules = take(id, 1) != 0;
  const auto rule = static_cast<mx::OutOfRange>(take(id, kRuleBits));
  const auto rounding = static_cast<mx::Rounding>(take(id, kRoundingBits));
  const bool rounds = std::ranges::find(mx::integer_roundings(), rounding) != mx::integer_roundings().end();
  require(id == 0 && mx::is_possible(found.integer) && rounds, "no such id");
  if (has_rules) found.rules = {rounding, rule};
  return found;
}

}  // namespace

extern "C" {

std::int32_t mxact_operation_id(const char* name) { return id_of(mx::all_operations(), name, mx::operation_named); }
std::int32_t mxact_predicate_id(const char* name) { return id_of(mx::all_predicates(), name, mx::predicate_named); }

std::int32_t mxact_integer_id(const char* name) {
  return id_or_status(name, [](std::string_view text) {
    if (text.find(',') == std::string_view::npos) return packed(mx::integer_named(text));
    const mx::IntegerTarget target = mx::integer_target(text);
    constexpr int kHasRules = 1 + 2 * kWidthBits, kRule = kHasRules + 1, kRounding = kRule + kRuleBits;
    return packed(target.integer) | 1 << kHasRules | static_cast<std::int32_t>(target.out_of_range) << kRule |
           static_cast<std::int32_t>(target.rounding) << kRounding;
  });
}

std::int32_t mxact_operate(std::int32_t operation, std::int32_t profile, std::int32_t format_a, std::uint32_t a, std::int32_t format_b,
                           std::uint32_t b, std::int32_t format_c, std::uint32_t c, std::int32_t to, std::uint32_t random, std::uint32_t* result,
                           std::uint32_t* flags) {
  return guarded([&] {
    require(result != nullptr && flags != nullptr, "a null pointer");
    const mx::OperationRow& row = row_of(mx::all_operations(), operation);
    const std::array ids{format_a, format_b, format_c};
    const std::array codes{a, b, c};
    std::array<const mx::Format*, 3> from{};
    const auto count = static_cast<std::size_t>(row.operands);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i >= count) {
        require(ids[i] == -1 && codes[i] == 0, "an operand that the operation has not: format -1, code 0");
        continue;
      }
      from[i] = &format_of(ids[i]);
      require_code(codes[i], *from[i]);
    }
    const mx::Format& target = format_of(to);
    const mx::Conversion& how = mx::conversion(profile_of(profile), mx::kF32, target);
    mx::IeeeFlags raised;
    *result = mx::operate(row.operation, std::span(codes).first(count), std::span(from).first(count), target, how, raised, random_of(how, random));
    *flags = mx::flag_bits(raised);
  });
}

std::int32_t mxact_compare(std::int32_t predicate, std::int32_t format_a, std::uint32_t a, std::int32_t format_b, std::uint32_t b,
                           std::uint32_t* result, std::uint32_t* flags) {
  return guarded([&] {
    require(result != nullptr && flags != nullptr, "a null pointer");
    const mx::Format& of_a = format_of(format_a);
    const mx::Format& of_b = format_of(format_b);
    require_code(a, of_a);
    require_code(b, of_b);
    mx::IeeeFlags raised;
    *result = mx::compare(row_of(mx::all_predicates(), predicate), a, of_a, b, of_b, raised) ? 1 : 0;
    *flags = mx::flag_bits(raised);
  });
}

std::int32_t mxact_to_integer(std::int32_t integer, std::int32_t from, std::uint32_t code, std::uint64_t* result, std::uint32_t* flags) {
  return guarded([&] {
    require(result != nullptr && flags != nullptr, "a null pointer");
    const IntegerId to = integer_of(integer);
    require(to.rules.has_value(), "an integer without round= and overflow=");
    const mx::Format& source = format_of(from);
    require_code(code, source);
    mx::IeeeFlags raised;
    *result = mx::to_integer(code, source, {to.integer, to.rules->first, to.rules->second}, raised);
    *flags = mx::flag_bits(raised);
  });
}

std::int32_t mxact_from_integer(std::int32_t profile, std::int32_t integer, std::int32_t to, std::uint64_t bits, std::uint32_t random,
                                std::uint32_t* result, std::uint32_t* flags) {
  return guarded([&] {
    require(result != nullptr && flags != nullptr, "a null pointer");
    const mx::Integer from = integer_of(integer).integer;
    require(from.width == 64 || bits >> from.width == 0, "bits above the integer's width");
    const mx::Format& target = format_of(to);
    const mx::Conversion& how = mx::conversion(profile_of(profile), mx::kF32, target);
    mx::IeeeFlags raised;
    *result = mx::from_integer(bits, from, target, how, raised, random_of(how, random));
    *flags = mx::flag_bits(raised);
  });
}

std::int32_t mxact_p3109(const char* specialization, const std::uint32_t* operands, std::size_t operand_count, const std::uint32_t* random,
                         std::size_t random_count, std::uint32_t* results, std::size_t result_count) {
  return guarded([&] {
    require(specialization != nullptr && results != nullptr, "a null pointer");
    require((operands != nullptr || operand_count == 0) && (random != nullptr || random_count == 0), "a null pointer");
    const mx::p3109::Specialization read = mx::p3109::specialization_of(specialization);
    require(result_count == mx::p3109::results_of(read).size(), "another number of results than the operation has");
    std::ranges::copy(mx::p3109::evaluate(read, {operands, operand_count}, {random, random_count}), results);
  });
}

}  // extern "C"
