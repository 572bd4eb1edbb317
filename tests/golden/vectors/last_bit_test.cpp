// Converters and quantizers that lose one bit somewhere: each fails on the directed vectors of edition v1.1 alone, or is right for every input, for a
// reason that stands here and that a search of other inputs bears out.

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "golden/vectors/conversion_op.hpp"
#include "golden/vectors/files/set_rows.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/profile.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::Format;
using mx::Rounding;
using mx::golden::GridPlace;

/// One conversion of the set, and all its directed inputs.
struct Converter {
  const Format* from;
  const Format* to;
  mx::Conversion how;
  std::string name;
  std::vector<std::uint32_t> directed;
  std::vector<std::uint32_t> others;  ///< every input of 16 bits, or drawn ones around the decisions

  std::uint32_t right(std::uint32_t code) const { return mx::convert(code, *from, *to, how); }
  bool is_subnormal(std::uint32_t code) const {
    const mx::Value value = mx::decode(*from, code);
    return value.cls == mx::ValueClass::finite && value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1 < 1 - to->bias;
  }
};

/// Which results a device is broken for.
enum class Where { normal, subnormal, both };
constexpr std::array kWheres{Where::normal, Where::subnormal, Where::both};

std::uint32_t low_bits(int count) { return (1U << count) - 1U; }
std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }

/// The source's code rounded to `kept` bits of its mantissa, nearest even; the exponent takes the carry.
std::uint32_t rounded_to(std::uint32_t code, int kept, const Format& from) {
  const int dropped = from.mantissa_bits - kept;
  const std::uint32_t odd = code >> dropped & 1U;
  return (code + low_bits(dropped - 1) + odd) & ~low_bits(dropped);
}

enum class Kind { keeps, rounds, blind, loses, twice };

/// A device: what it does to a finite input before it converts it rightly.
struct Device {
  Kind kind;
  int bits;
  std::string name;
  std::function<std::uint32_t(const Converter& unit, std::uint32_t code)> changed;
  const Format* middle = nullptr;
};

std::vector<Device> devices(const Converter& unit) {
  std::vector<Device> all;
  const Format& from = *unit.from;
  const Format& to = *unit.to;
  for (int kept = 0; kept < from.mantissa_bits; ++kept) {
    const std::uint32_t cut = low_bits(from.mantissa_bits - kept);
    all.push_back(
        {Kind::keeps, kept, "keeps " + std::to_string(kept) + " bits", [cut](const Converter&, std::uint32_t code) { return code & ~cut; }});
    all.push_back({Kind::rounds, kept, "rounds to " + std::to_string(kept) + " bits first",
                   [kept](const Converter& one, std::uint32_t code) { return rounded_to(code, kept, *one.from); }});
    // The sticky bit does not see the lowest bits once the guard bit is set.
    all.push_back({Kind::blind, kept, "sticky is blind to the lowest " + std::to_string(from.mantissa_bits - kept) + " bits beside a guard bit",
                   [cut](const Converter& one, std::uint32_t code) {
                     const GridPlace place = mx::golden::place_on_grid(mx::decode(*one.from, code), *one.to);
                     const std::uint32_t left = code & ~cut;
                     const mx::Value value = mx::decode(*one.from, left);
                     if ((place.below & 4U) == 0 || value.cls != mx::ValueClass::finite) return code;
                     const GridPlace after = mx::golden::place_on_grid(value, *one.to);
                     return after.floor == place.floor && (after.below & 4U) != 0 ? left : code;
                   }});
  }
  // What lies below so many bits behind the last one is lost, of subnormal results too.
  for (int width = 1; width <= from.mantissa_bits; ++width) {
    all.push_back({Kind::loses, width, "sticky is lost " + std::to_string(width) + " bits behind the last one",
                   [width](const Converter& one, std::uint32_t code) {
                     const mx::Value value = mx::decode(*one.from, code);
                     const int unit_exponent = mx::golden::place_on_grid(value, *one.to).unit - width;
                     const int dropped = unit_exponent - value.exponent;
                     if (dropped <= 0) return code;
                     mx::Value cut = value;
                     cut.significand = dropped < 64 ? value.significand >> dropped << dropped : 0;
                     if (cut.significand == 0) return code & sign_bit(*one.from);
                     return mx::golden::exact_code(cut, *one.from).value_or(code);
                   }});
  }
  for (const Format& middle : mx::all_formats()) {
    if (middle.encoding != mx::Encoding::floating || middle.mantissa_bits <= to.mantissa_bits || middle.mantissa_bits >= from.mantissa_bits) continue;
    const mx::Conversion* way = mx::find_conversion(mx::profile_named("ocp"), from, middle);
    if (way == nullptr) continue;
    all.push_back({Kind::twice, middle.mantissa_bits, "rounds twice, through " + std::string(middle.name),
                   [&middle, how = *way](const Converter& one, std::uint32_t code) {
                     const mx::Value value = mx::decode(middle, mx::convert(code, *one.from, middle, how));
                     if (value.cls != mx::ValueClass::finite) return code;
                     return mx::golden::exact_code(value, *one.from).value_or(code);
                   },
                   &middle});
  }
  return all;
}

/// Whether the device differs from the right answer for one of the inputs.
bool differs(const Converter& unit, const Device& device, Where where, const std::vector<std::uint32_t>& codes) {
  return std::ranges::any_of(codes, [&](std::uint32_t code) {
    if (mx::decode(*unit.from, code).cls != mx::ValueClass::finite) return false;
    if (where != Where::both && unit.is_subnormal(code) != (where == Where::subnormal)) return false;
    const std::uint32_t changed = device.changed(unit, code);
    return changed != code && unit.right(changed) != unit.right(code);
  });
}

/// Why a device that no directed vector catches is right for every input; empty where nothing says so.
std::string why_right(const Converter& unit, const Device& device, Where where, std::uint64_t changed) {
  const Rounding rounding = unit.how.rounding;
  const bool cuts = device.kind == Kind::keeps || device.kind == Kind::loses;
  if (changed == 0) return "there is no input that it changes";
  if (unit.from->width == 16) return "every input was tried";
  const bool cuts_off = rounding == Rounding::toward_zero || (rounding == Rounding::toward_negative && !unit.to->has_sign);
  if (cuts && cuts_off) return "what is cut off twice is cut off once";
  const bool looks_at_guard = rounding == Rounding::nearest_away || rounding == Rounding::nearest_up;
  if ((cuts || device.kind == Kind::blind) && looks_at_guard) return "the guard bit alone decides";
  if (device.kind == Kind::blind && rounding != Rounding::nearest_even) return "a set guard bit says enough";
  if (device.kind == Kind::rounds && device.bits == unit.to->mantissa_bits && (where == Where::normal || unit.to->bias == unit.from->bias))
    return "it is the rounding that is asked for";
  const auto least = [](const Format& format) { return 1 - format.bias - format.mantissa_bits; };
  if (device.middle != nullptr && where == Where::subnormal && least(*device.middle) == least(*unit.to)) return "both have one grid there";
  return {};
}

Converter converter_of(const mx::golden::SetRow& row) {
  const auto op = mx::golden::op_of(row, mx::golden::Edition::v1_1);
  const std::size_t middle = row.op.find("_to_");
  Converter unit{&mx::format_named(row.op.substr(0, middle)), &mx::format_named(row.op.substr(middle + 4)), {}, op->name(), {}, {}};
  for (const auto& option : row.options) {
    if (option.key != "profile") continue;
    unit.how = mx::conversion(mx::profile_named(option.value), *unit.from, *unit.to);
    unit.name += " " + option.value;
  }
  op->directed([&](mx::golden::Lanes operands) { unit.directed.push_back(operands[0]); });
  if (unit.from->width == 16) {
    for (std::uint32_t code = 0; code < 0x10000; ++code) unit.others.push_back(code);
    return unit;
  }
  // Drawn from decisions: a directed code of which some low bits are others.
  mx::support::SplitMix64 random(9);
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t word = random.next();
    const std::uint32_t code = unit.directed[(word >> 40U) % unit.directed.size()];
    unit.others.push_back(code ^ (static_cast<std::uint32_t>(word) & low_bits(static_cast<int>(word >> 32U) % 24)));
  }
  return unit;
}

}  // namespace

TEST_CASE("a converter that loses a bit fails on the directed vectors, or is right for every input") {
  int failing = 0;
  int right = 0;
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    const bool flushes = std::ranges::any_of(row.options, [](const auto& option) { return option.key == "flush"; });
    if (row.choice.kind != mx::golden::SetKind::directed || row.op.find("_to_") == std::string::npos || row.op.starts_with("dequantize") || flushes)
      continue;
    // Saturation and overflow to Inf round alike.
    const bool is_other_overflow = std::ranges::any_of(row.options, [](const auto& option) { return option.value.ends_with("-nosat"); });
    if (is_other_overflow) continue;
    const Converter unit = converter_of(row);
    if (unit.how.random_bits > 0) continue;
    std::string missed;
    for (const Device& device : devices(unit)) {
      for (const Where where : kWheres) {
        if (where != Where::both && unit.to->encoding != mx::Encoding::floating) continue;
        if (differs(unit, device, where, unit.directed)) {
          ++failing;
          continue;
        }
        std::uint64_t changes = 0;
        for (std::uint32_t code : unit.others) {
          const bool is_here = mx::decode(*unit.from, code).cls == mx::ValueClass::finite &&
                               (where == Where::both || unit.is_subnormal(code) == (where == Where::subnormal));
          changes += is_here && device.changed(unit, code) != code ? 1U : 0U;
        }
        const std::string at = device.name + (where == Where::both ? "" : where == Where::normal ? ", normal results" : ", subnormal results");
        if (differs(unit, device, where, unit.others)) missed += at + "; ";
        if (why_right(unit, device, where, changes).empty()) missed += at + " without a reason; ";
        ++right;
      }
    }
    INFO(unit.name);
    CHECK(missed == "");
  }
  CHECK(failing > 10000);
  WARN("devices that fail: " << failing << ", that are right everywhere: " << right);
}
