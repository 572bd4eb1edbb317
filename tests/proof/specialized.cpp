#include "tests/proof/specialized.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// One translation unit with everything that a conversion runs through, so that the compiler can work out what a format's row decides. A namespace of
// its own keeps it apart from the library, which the program is linked with as well. The standard library has no `mx`, and is included above.
#define mx mx_specialized
#include "model/error.cpp"
#include "model/names.cpp"
#include "model/numerics/convert.cpp"
#include "model/numerics/format.cpp"
#include "model/numerics/rounding.cpp"
#include "model/numerics/source_bits.cpp"
#include "model/numerics/value.cpp"
#undef mx

// fp32 steps of searches and logarithms, which no format's row decides, are the library's. Names are not read here: no format is one of the text.
namespace mx {
int floor_of(std::uint32_t f32);
namespace f32 {
std::uint32_t sub(std::uint32_t a, std::uint32_t b);
std::uint32_t log2(std::uint32_t x);
bool less(std::uint32_t a, std::uint32_t b);
}  // namespace f32
}  // namespace mx

namespace mx_specialized {
std::span<const Format> further_formats() { return {}; }
bool is_rules(std::string_view) { return false; }
const Format& format_of_text(std::string_view) { throw std::logic_error("a proof reads no format from a text"); }
int floor_of(std::uint32_t f32) { return mx::floor_of(f32); }
namespace f32 {
std::uint32_t sub(std::uint32_t a, std::uint32_t b) { return mx::f32::sub(a, b); }
std::uint32_t log2(std::uint32_t x) { return mx::f32::log2(x); }
bool less(std::uint32_t a, std::uint32_t b) { return mx::f32::less(a, b); }
}  // namespace f32
}  // namespace mx_specialized

namespace mx::tests {
namespace {

namespace model = mx_specialized;

template <std::size_t Row>
[[gnu::flatten]] void convert_all(const PlainConversion& plain, std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
  static constexpr model::Format kTo = model::kFormats[Row];
  const model::Conversion how{.rounding = static_cast<model::Rounding>(plain.rounding),
                              .overflow = static_cast<model::Overflow>(plain.overflow),
                              .nan_rule = static_cast<model::NanRule>(plain.nan_rule),
                              .nan_positive = plain.nan_positive,
                              .nan_negative = plain.nan_negative,
                              .zero_code = plain.zero_code,
                              .negative_is_nan = plain.negative_is_nan,
                              .random_bits = plain.random_bits,
                              .flush = static_cast<model::Flush>(plain.flush)};
  const model::Random random = plain.random;
  model::Flags flags;
  for (std::size_t i = 0; i < patterns.size(); ++i) codes[i] = model::convert(patterns[i], model::kF32, kTo, how, flags, random);
}

template <std::size_t... Rows>
SpecializedConvert find(std::string_view format, std::index_sequence<Rows...> /*rows*/) {
  SpecializedConvert found = nullptr;
  ((model::kFormats[Rows].name == format ? void(found = convert_all<Rows>) : void()), ...);
  return found;
}

}  // namespace

SpecializedConvert specialized_convert(std::string_view format) { return find(format, std::make_index_sequence<model::kFormats.size()>{}); }

}  // namespace mx::tests
