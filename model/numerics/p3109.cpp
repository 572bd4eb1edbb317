#include "model/numerics/p3109.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/p3109_functions.hpp"
#include "model/numerics/rounding.hpp"

namespace mx::p3109 {
namespace {

Real number_of(std::uint32_t code, const Format& format) { return real_of(decode(format, code)); }

bool is_external(const Format& format) { return format == kF32 || format == kFp16 || format == kBf16; }

/// Codes of numbers, each rounded by the projection and its random number.
class Projector {
 public:
  explicit Projector(std::span<const std::uint32_t> random) : random_(random) {}

  std::uint32_t operator()(const Real& x, const Format& to, const Projection& how) {
    rules::Draft draft;
    draft.rounding = how.rounding;
    draft.saturation = how.saturation;
    draft.random_bits = how.random_bits;
    // An external format's zero is the one without a sign (section 4.8.2).
    if (is_external(to)) draft.fine.zero_sign = SignOfZero::positive;
    const Conversion conversion = rules::conversion_of("P3109", draft, to);
    Random random;
    if (is_stochastic(how.rounding)) {
      random = random_.front();
      random_ = random_.subspan(1);
    }
    Flags flags;
    return encode(leading_bits(x), to, conversion, flags, random);
  }

 private:
  std::span<const std::uint32_t> random_;
};

// Facts of a format, section 4.14.

std::uint32_t precision_of(const Format& format) { return static_cast<std::uint32_t>(format.mantissa_bits) + 1U; }
std::uint32_t nan_of(const Format& format) { return nan_is_negative_zero(format) ? 1U << (format.width - 1) : magnitude_mask(format); }
std::uint32_t least_normal(const Format& format) { return 1U << format.mantissa_bits; }
std::uint32_t least_finite(const Format& format) { return format.has_sign ? max_finite_code(format) | 1U << (format.width - 1) : 0U; }

struct Fact {
  std::string_view name;
  Kind kind;
  std::uint32_t (*of)(const Format& format);
};
constexpr std::array kFacts{
    Fact{"BitwidthOf", Kind::fact, [](const Format& f) { return static_cast<std::uint32_t>(f.width); }},
    Fact{"PrecisionOf", Kind::fact, precision_of},
    Fact{"SignednessOf", Kind::fact, [](const Format& f) { return f.has_sign ? 0U : 1U; }},
    Fact{"DomainOf", Kind::fact, [](const Format& f) { return has_inf(f) ? 1U : 0U; }},
    Fact{"ExponentBitwidthOf", Kind::fact, [](const Format& f) { return static_cast<std::uint32_t>(f.exponent_bits); }},
    Fact{"TrailingSignificandBitwidthOf", Kind::fact, [](const Format& f) { return precision_of(f) - 1U; }},
    Fact{"ExponentBiasOf", Kind::fact, [](const Format& f) { return static_cast<std::uint32_t>(f.bias); }},
    Fact{"MaxFiniteOf", Kind::number_of_format, [](const Format& f) { return max_finite_code(f); }},
    Fact{"MinFiniteOf", Kind::number_of_format, least_finite},
    Fact{"MinPositiveOf", Kind::number_of_format, [](const Format&) { return 1U; }},
    Fact{"MaxSubnormalOf", Kind::number_of_format, [](const Format& f) { return precision_of(f) == 1 ? nan_of(f) : least_normal(f) - 1U; }},
    Fact{"MinNormalOf", Kind::number_of_format, least_normal},
};

struct Predicate {
  std::string_view name;
  bool (*holds)(const Value& x, const Format& format);
};
bool is_number(const Value& x) { return x.cls == ValueClass::finite || x.cls == ValueClass::zero; }
constexpr std::array kPredicates{
    Predicate{"IsZero", [](const Value& x, const Format&) { return x.cls == ValueClass::zero; }},
    Predicate{"IsOne",
              [](const Value& x, const Format&) {
                const Value odd = canonical(x);
                return x.cls == ValueClass::finite && odd.significand == 1 && odd.exponent == 0 && !x.negative;
              }},
    Predicate{"IsNaN", [](const Value& x, const Format&) { return x.cls == ValueClass::nan; }},
    Predicate{"IsInfinite", [](const Value& x, const Format&) { return x.cls == ValueClass::infinity; }},
    Predicate{"IsFinite", [](const Value& x, const Format&) { return is_number(x); }},
    Predicate{"IsSignMinus", [](const Value& x, const Format&) { return x.negative && x.cls != ValueClass::nan && x.cls != ValueClass::zero; }},
    Predicate{"IsNormal", [](const Value& x, const Format& f) { return x.cls == ValueClass::finite && !rounding::is_subnormal(x, f); }},
    Predicate{"IsSubnormal", [](const Value& x, const Format& f) { return rounding::is_subnormal(x, f); }},
};

/// The next number up or down; NaN at the end (section 4.16). Codes of one sign ascend with the magnitude.
std::uint32_t neighbour(std::uint32_t code, const Format& format, bool up) {
  const std::uint32_t sign = format.has_sign ? 1U << (format.width - 1) : 0U, last = max_finite_code(format) + (has_inf(format) ? 1U : 0U);
  if (is_nan_code(format, code)) return code;
  const bool negative = (code & sign) != 0;
  const std::uint32_t magnitude = code & magnitude_mask(format);
  if (magnitude == 0 && !up) return format.has_sign ? sign | 1U : nan_of(format);
  if (negative != up) return magnitude == last ? nan_of(format) : code + 1U;
  return magnitude == 1 ? 0U : code - 1U;
}

constexpr std::array<std::string_view, 2> kNeighbours{"NextGreaterThan", "NextLessThan"};
constexpr std::array<std::string_view, 2> kReductions{"BlockReduceAdd", "BlockReduceMultiply"};

std::vector<Operation> operations() {
  std::vector<Operation> rows;
  for (const Function& f : functions()) rows.push_back({std::string(f.name), Kind::scalar, f.arity, f.required});
  for (const Comparison& c : comparisons()) rows.push_back({std::string(c.name), Kind::comparison, 2, c.required});
  for (const Predicate& p : kPredicates) rows.push_back({std::string(p.name), Kind::predicate, 1, true});
  for (const std::string_view name : kNeighbours) rows.push_back({std::string(name), Kind::neighbour, 1, true});
  for (const Fact& fact : kFacts) rows.push_back({std::string(fact.name), fact.kind, 0, true});
  rows.push_back({"ConvertFromBlock", Kind::from_block, 1, false});
  rows.push_back({"ConvertToBlock", Kind::to_block, 1, false});
  rows.push_back({"ConvertToBlockMaxAbsFinite", Kind::to_block_by_largest, 1, false});
  for (const std::string_view name : kReductions) rows.push_back({std::string(name), Kind::reduction, 1, false});
  rows.push_back({"BlockDotProduct", Kind::dot, 2, false});
  for (const Function& f : functions()) rows.push_back({"Block" + std::string(f.name), Kind::block, f.arity, false});
  for (const Function& f : functions()) rows.push_back({"Scaled" + std::string(f.name), Kind::scaled, f.arity, f.required_scaled});
  return rows;
}

/// The row of a table with that name.
template <typename Table>
const auto& row_of(const Table& table, std::string_view name) {
  return *std::ranges::find_if(table, [&](const auto& row) { return row.name == name; });
}
const Function& function_of(const Operation& operation) {
  const std::string_view prefix = operation.kind == Kind::block ? "Block" : operation.kind == Kind::scaled ? "Scaled" : "";
  return row_of(functions(), std::string_view(operation.name).substr(prefix.size()));
}

/// The numbers of a block; reads what it takes off the codes.
std::vector<Real> block_of(std::span<const std::uint32_t>& codes, const Format& scale, const Format& element, int size) {
  const Real s = number_of(codes.front(), scale);
  codes = codes.subspan(1);
  std::vector<Real> numbers;
  for (int i = 0; i < size; ++i) numbers.push_back(product(s, number_of(codes[static_cast<std::size_t>(i)], element)));
  codes = codes.subspan(static_cast<std::size_t>(size));
  return numbers;
}

/// What a number becomes under a scale, before it is rounded (section 5.1.2).
Real over_scale(const Real& x, const Real& scale) {
  if (scale.cls == ValueClass::nan || x.cls == ValueClass::nan) return nan_real();
  if (scale.cls == ValueClass::zero || x.cls == ValueClass::zero) return {};
  if (scale.cls != ValueClass::infinity) return quotient(x, scale);
  const Real one = real_of({.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = false});
  return x.negative != scale.negative ? negated(one) : one;
}

Real reduced(const std::vector<Real>& numbers, bool adds) {
  Real total = real_of({.significand = 1, .exponent = 0, .cls = adds ? ValueClass::zero : ValueClass::finite, .negative = false});
  for (const Real& x : numbers) total = adds ? sum(total, x) : product(total, x);
  return total;
}

/// A specialization at work on one tuple of operands.
struct Work {
  const Specialization& s;
  std::span<const std::uint32_t> codes;
  Projector project;

  const Format& format(std::size_t i) const { return *s.formats[i]; }
  const Format& target() const { return *s.formats.back(); }
  std::uint32_t projected(const Real& x) { return project(x, target(), s.projections.back()); }

  std::vector<std::uint32_t> scalar() {
    Operands x{};
    for (std::size_t i = 0; i < codes.size(); ++i) x[i] = number_of(codes[i], format(i));
    return {projected(function_of(*s.operation).compute(x))};
  }

  /// Elementwise on blocks, under the scale of the result.
  std::vector<std::uint32_t> of_blocks() {
    const bool is_scaled = s.operation->kind == Kind::scaled;
    std::vector<std::vector<Real>> blocks;
    for (int i = 0; i < s.operation->arity; ++i) {
      const auto at = static_cast<std::size_t>(2 * i);
      blocks.push_back(block_of(codes, format(at), format(at + 1), s.block));
    }
    const std::uint32_t code = is_scaled ? 0U : codes.front();
    const Real scale = is_scaled ? real_of({1, 0, ValueClass::finite, false}) : number_of(code, format(s.formats.size() - 2));
    std::vector<std::uint32_t> result;
    if (!is_scaled) result.push_back(code);
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.block); ++i) {
      Operands x{};
      for (std::size_t j = 0; j < blocks.size(); ++j) x[j] = blocks[j][i];
      result.push_back(projected(over_scale(function_of(*s.operation).compute(x), scale)));
    }
    return result;
  }

  std::vector<std::uint32_t> from_block() {
    std::vector<std::uint32_t> result;
    for (const Real& x : block_of(codes, format(0), format(1), s.block)) result.push_back(projected(x));
    return result;
  }

  std::vector<std::uint32_t> to_block() {
    std::vector<Real> x;
    for (const std::uint32_t code : codes.first(static_cast<std::size_t>(s.block))) x.push_back(number_of(code, format(0)));
    std::uint32_t scale = 0;
    if (s.operation->kind == Kind::to_block) {
      scale = codes.back();
    } else {
      Real largest = nan_real();
      for (const Real& one : x) largest = maximum_finite(largest, absolute(one));
      scale = project(largest, format(1), s.projections.front());
    }
    std::vector<std::uint32_t> result{scale};
    for (const Real& one : x) result.push_back(projected(over_scale(one, number_of(scale, format(1)))));
    return result;
  }

  std::vector<std::uint32_t> to_number() {
    std::vector<Real> x = block_of(codes, format(0), format(1), s.block);
    if (s.operation->kind == Kind::reduction) return {projected(reduced(x, s.operation->name == kReductions[0]))};
    const std::vector<Real> y = block_of(codes, format(2), format(3), s.block);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = product(x[i], y[i]);
    return {projected(reduced(x, true))};
  }

  std::vector<std::uint32_t> result() {
    switch (s.operation->kind) {
      case Kind::scalar: return scalar();
      case Kind::comparison:
        return {row_of(comparisons(), s.operation->name).holds(number_of(codes[0], format(0)), number_of(codes[1], format(1))) ? 1U : 0U};
      case Kind::predicate: return {row_of(kPredicates, s.operation->name).holds(decode(format(0), codes[0]), format(0)) ? 1U : 0U};
      case Kind::neighbour: return {neighbour(codes[0], format(0), s.operation->name == kNeighbours[0])};
      case Kind::fact:
      case Kind::number_of_format: return {row_of(kFacts, s.operation->name).of(format(0))};
      case Kind::block:
      case Kind::scaled: return of_blocks();
      case Kind::from_block: return from_block();
      case Kind::to_block:
      case Kind::to_block_by_largest: return to_block();
      case Kind::reduction:
      case Kind::dot: break;
    }
    return to_number();
  }
};

void require_codes(std::span<const std::uint32_t> codes, std::span<const Format* const> formats) {
  if (codes.size() != formats.size())
    throw Error(ErrorCode::usage, std::to_string(codes.size()) + " operands, where " + std::to_string(formats.size()) + " are taken");
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const bool fits = formats[i]->width == 32 || codes[i] >> formats[i]->width == 0;
    if (!fits) throw Error(ErrorCode::usage, "operand " + std::to_string(i) + " is no code of " + name_of(*formats[i]));
  }
}

}  // namespace

std::span<const Operation> all_operations() {
  static const std::vector<Operation> kOperations = operations();
  return kOperations;
}

std::vector<const Format*> operands_of(const Specialization& s) {
  const auto size = static_cast<std::size_t>(s.block);
  std::vector<const Format*> formats;
  const auto add_block = [&](std::size_t at) {
    formats.push_back(s.formats[at]);
    formats.insert(formats.end(), size, s.formats[at + 1]);
  };
  switch (s.operation->kind) {
    case Kind::fact:
    case Kind::number_of_format: return {};
    case Kind::scalar: return {s.formats.begin(), s.formats.end() - 1};
    case Kind::comparison:
    case Kind::predicate:
    case Kind::neighbour: return s.formats;
    case Kind::to_block_by_largest: return std::vector<const Format*>(size, s.formats[0]);
    case Kind::to_block:
      formats.assign(size, s.formats[0]);
      formats.push_back(s.formats[1]);
      return formats;
    case Kind::block:
    case Kind::scaled:
    case Kind::from_block:
    case Kind::reduction:
    case Kind::dot: break;
  }
  for (int i = 0; i < s.operation->arity; ++i) add_block(static_cast<std::size_t>(2 * i));
  if (s.operation->kind == Kind::block) formats.push_back(s.formats[s.formats.size() - 2]);
  return formats;
}

std::vector<const Format*> results_of(const Specialization& s) {
  const auto size = static_cast<std::size_t>(s.block);
  std::vector<const Format*> formats(size, s.formats.back());
  switch (s.operation->kind) {
    case Kind::comparison:
    case Kind::predicate:
    case Kind::fact: return {nullptr};
    case Kind::block:
    case Kind::to_block:
    case Kind::to_block_by_largest: formats.insert(formats.begin(), s.formats[s.formats.size() - 2]); break;
    case Kind::reduction:
    case Kind::dot: formats.resize(1); break;
    default: break;
  }
  return formats;
}

std::vector<std::uint32_t> evaluate(const Specialization& s, std::span<const std::uint32_t> operands, std::span<const std::uint32_t> random) {
  require_codes(operands, operands_of(s));
  std::size_t wanted = 0;
  if (!s.projections.empty()) {
    const auto elements = results_of(s).size() - (s.operation->kind == Kind::block || s.operation->kind == Kind::to_block ? 1U : 0U);
    const bool apart = s.operation->kind == Kind::to_block_by_largest;
    if (is_stochastic(s.projections.back().rounding)) wanted += apart ? elements - 1 : elements;
    if (apart && is_stochastic(s.projections.front().rounding)) ++wanted;
  }
  if (random.size() != wanted)
    throw Error(ErrorCode::usage, std::to_string(random.size()) + " random numbers, where " + std::to_string(wanted) + " are taken");
  return Work{s, operands, Projector(random)}.result();
}

}  // namespace mx::p3109
