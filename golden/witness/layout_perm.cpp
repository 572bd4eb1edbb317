// kind perm of layout-vectors/2: permutations unit by unit.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "golden/witness/layout_kinds.hpp"
#include "golden/witness/tensor.hpp"
#include "model/layout/grains.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kPadding = -1;    // in recorded files: constant padding
constexpr std::int64_t kUnwritten = -2;  // in recorded files: left as it was
constexpr std::int64_t kMixed = -4;      // of the model: the pieces of one unit do not come from one unit

// Index maps take 8 bytes a grain.
constexpr std::int64_t kMostMappedBytes = std::int64_t{1} << 26;

/// A word for units, and how many bits they have.
struct UnitWord {
  std::string_view word;
  int bits;         ///< 0: any
  int multiple_of;  ///< of the bits
};
constexpr UnitWord kUnits[] = {{"bit", 1, 1},        {"nibble", 4, 1}, {"byte", 8, 1}, {"element16", 16, 1},
                               {"element32", 32, 1}, {"row", 0, 8},    {"value", 0, 8}};

/// Units of the record against grains of the model, cut into pieces that both consist of.
struct Pieces {
  std::int64_t per_unit;
  std::int64_t per_grain;
};

/// Where a source unit lies among the model's grains, as text.
struct Places {
  const LayoutModel& model;
  Pieces pieces;

  /// "unit 17 (E=0 half=1 I=3 K=0)", or what else a position holds.
  std::string text(std::int64_t unit) const {
    if (unit == kMixed) return "pieces of several units";
    if (unit == layout::Layout::kPadUnwritten) return "an unwritten position";
    if (unit < 0) return "padding";
    const std::int64_t grain = unit * pieces.per_unit / pieces.per_grain;
    if (grain >= model.source.cosize()) return fmt::format("unit {}, which the input does not have", unit);
    return fmt::format("unit {} ({})", unit, layout::coord_text(model.source.logical(), *model.source.inverse(grain).coord));
  }
};

/// The model's permutation in the units of the record, pieces of a unit taken together.
std::vector<std::int64_t> model_units(const std::vector<std::int64_t>& grains, const Pieces& pieces) {
  const std::int64_t total = static_cast<std::int64_t>(grains.size()) * pieces.per_grain;
  const auto piece = [&](std::int64_t index) {
    const std::int64_t grain = grains[static_cast<std::size_t>(index / pieces.per_grain)];
    return grain < 0 ? grain : grain * pieces.per_grain + index % pieces.per_grain;
  };
  std::vector<std::int64_t> units;
  for (std::int64_t first = 0; first + pieces.per_unit <= total; first += pieces.per_unit) {
    const std::int64_t source = piece(first);
    bool together = source < 0 || source % pieces.per_unit == 0;
    for (std::int64_t k = 1; together && k < pieces.per_unit; ++k) together = piece(first + k) == (source < 0 ? source : source + k);
    units.push_back(!together ? kMixed : source < 0 ? source : source / pieces.per_unit);
  }
  return units;
}

std::vector<std::int64_t> read_perm(const LayoutEntry& entry, const std::filesystem::path& directory, std::int64_t count) {
  Fields files(entry.json->at("files"), "files", entry.where);
  TensorSpec spec{&dtype_named("i32"), {count}, count, files.text("perm"), {}, 0, {}};
  files.finish();
  const Tensor tensor = load(spec, directory, entry.where);
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i < count; ++i) {
    perm.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(tensor.word(i))));
    if (perm.back() < layout::Layout::kPadUnwritten) {
      broken(fmt::format("unit {} of {} is {}: -1 (padding) and -2 (unwritten) are the only negative numbers", i, spec.file, perm.back()),
             entry.where);
    }
  }
  return perm;
}

/// Values that padding may have, when the record states them.
struct PadValues {
  std::optional<std::vector<std::uint64_t>> values;
  int bits = 8;  ///< of one value: a unit, or a byte where units are wider than a number

  bool allow(std::int64_t code) const {
    if (!values) return true;
    const std::uint64_t value = layout::pad_grain(code, 0, bits, 0);
    return std::ranges::find(*values, value) != values->end();
  }
};

PadValues read_pad_values(const LayoutEntry& entry, std::int64_t out_bits) {
  PadValues pads;
  if (out_bits <= 64) pads.bits = static_cast<int>(out_bits);
  const Json& json = entry.json->at("pad_values");
  // The CuTe layout object says where elements go; it says nothing of the positions between them.
  if (json.is_null() || entry.layout == "sf_128x4.cutlass_atom") return pads;
  if (!json.is_array()) broken("pad_values must be an array or null", entry.where);
  pads.values.emplace();
  for (const Json& value : json) {
    if (!value.is_number_integer()) throw Unmodelled("pad_values holds " + shown(value));
    pads.values->push_back(value.is_int64() ? static_cast<std::uint64_t>(value.get<std::int64_t>()) : value.get<std::uint64_t>());
  }
  return pads;
}

bool same_place(std::int64_t recorded, std::int64_t model, const PadValues& pads) {
  if (recorded != kPadding) return recorded == model;
  return model < 0 && model != layout::Layout::kPadUnwritten && model != kMixed && pads.allow(model);
}

void compare_forward(const Places& places, const std::vector<std::int64_t>& recorded, const std::vector<std::int64_t>& units, const PadValues& pads,
                     std::int64_t out_bits, LayoutFindings& findings) {
  for (std::size_t d = 0; d < recorded.size(); ++d) {
    if (recorded[d] == kUnwritten) {
      findings.skipped();
      continue;
    }
    findings.compared();
    if (same_place(recorded[d], units[d], pads)) continue;
    findings.differs([&] {
      const auto bit = static_cast<std::int64_t>(d) * out_bits;
      return fmt::format("destination unit {} (byte {}{}): recorded {}, model {}", d, bit / 8, bit % 8 == 0 ? "" : fmt::format(" bit {}", bit % 8),
                         places.text(recorded[d]), places.text(units[d]));
    });
  }
}

// The recorded output read back through the model: where the model finds a source unit, the record must have put it. Uses the layout's own forward
// function, not the map that the comparison above walked.
void compare_backward(const Places& places, const std::vector<std::int64_t>& recorded, std::int64_t src_units, LayoutFindings& findings) {
  std::vector<bool> kept(static_cast<std::size_t>(src_units), false);
  for (const std::int64_t unit : recorded) {
    if (unit >= 0 && unit < src_units) kept[static_cast<std::size_t>(unit)] = true;
  }
  const auto [per_unit, per_grain] = places.pieces;
  for (std::int64_t s = 0; s < src_units; ++s) {
    if (!kept[static_cast<std::size_t>(s)]) continue;
    const std::int64_t piece = s * per_unit;
    const auto address = places.model.packed.at(*places.model.source.inverse(piece / per_grain).coord);
    const std::int64_t unit = address ? (*address * per_grain + piece % per_grain) / per_unit : kMixed;
    const std::int64_t found = unit >= 0 ? recorded[static_cast<std::size_t>(unit)] : kMixed;
    if (found == kUnwritten) continue;
    findings.compared();
    if (found == s) continue;
    findings.differs([&] {
      const std::string place = address ? fmt::format("destination unit {}, where the record has {}", unit, places.text(found)) : "nowhere";
      return fmt::format("backward: the model reads source {} from {}", places.text(s), place);
    });
  }
}

/// Bytes in hex, low byte first.
std::uint64_t little_endian(const std::string& hex, const std::string& where) {
  if (hex.size() % 2 != 0 || hex.size() > 16 || hex.empty() || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    broken("value_map has '" + hex + "', not up to 8 bytes in hex", where);
  std::uint64_t value = 0;
  for (std::size_t i = hex.size(); i > 0; i -= 2) value = value << 8U | std::stoull(hex.substr(i - 2, 2), nullptr, 16);
  return value;
}

/// Values seen going in and out, both ways.
void compare_values(const LayoutEntry& entry, const layout::Cast& cast, LayoutFindings& findings) {
  const auto map = entry.json->find("value_map");
  if (map == nullptr) return;
  if (!map->is_object()) broken("value_map must be an object", entry.where);
  const layout::Uncast uncast(cast);
  for (const auto& [from, outputs] : map->items()) {
    const std::uint64_t input = little_endian(from, entry.where);
    const std::uint64_t got = cast.make(input);
    if (!outputs.is_array()) broken("value_map of " + from + " must be an array", entry.where);
    for (const Json& output : outputs) {
      const std::uint64_t want = little_endian(output.is_string() ? output.get<std::string>() : std::string(), entry.where);
      findings.compared();
      if (want != got) findings.differs([&] { return fmt::format("value 0x{:X}: recorded 0x{:X}, model 0x{:X}", input, want, got); });
      if (!uncast.is_recoverable(input)) continue;
      const auto back = uncast(want);
      findings.compared();
      if (back != input)
        findings.differs([&] { return fmt::format("backward: value 0x{:X} comes from 0x{:X}, which the model does not find", want, input); });
    }
  }
}

}  // namespace

void run_perm(const LayoutEntry& entry, const std::filesystem::path& directory, LayoutFindings& findings) {
  const LayoutCall call = call_of(entry);
  Fields fields(*entry.json, "entry", entry.where);
  const UnitWord& unit = row_named(kUnits, "unit", fields.text("unit"));
  const std::int64_t unit_bits = fields.integer("unit_bits", 1, std::int64_t{1} << 30);
  const std::int64_t src_units = fields.integer("src_units", 1, std::int64_t{1} << 31);
  const std::int64_t dst_units = fields.integer("dst_units", 1, std::int64_t{1} << 31);
  fields.at("pad_values");
  fields.at("files");
  if ((unit.bits != 0 && unit.bits != unit_bits) || unit_bits % unit.multiple_of != 0)
    broken(fmt::format("a {} does not have {} bits", unit.word, unit_bits), entry.where);
  check_input(entry, kMostMappedBytes);
  const LayoutModel model = model_of(call, entry);
  check_input(entry, model);
  if (src_units * unit_bits != 8 * entry.input.bytes()) broken("src_units and unit_bits do not give the input's size", entry.where);
  const ArrayShape output = read_array(fields.at("output"), "output", entry.where);
  const std::int64_t grain_bits = model.source.grain_bits();
  if (!model.cast->keeps() && unit_bits != grain_bits) throw Unmodelled("units of a tensor whose values change");

  const std::vector<std::int64_t> recorded = read_perm(entry, directory, dst_units);
  // A cast changes the size of a grain; the units are then grains.
  const std::int64_t piece = model.cast->keeps() ? std::gcd(unit_bits, grain_bits) : grain_bits;
  const Places places{model, {unit_bits / piece, grain_bits / piece}};
  const std::vector<std::int64_t> grains = source_grains(model);
  if (static_cast<std::int64_t>(grains.size()) * places.pieces.per_grain % places.pieces.per_unit != 0)
    broken(fmt::format("units of {} bits do not divide an output of {} bytes", unit_bits, model.packed.bytes()), entry.where);
  const std::vector<std::int64_t> units = model_units(grains, places.pieces);
  if (units.size() != recorded.size() || output.bytes() != model.packed.bytes()) {
    findings.compared();
    return findings.differs([&] {
      return fmt::format("size of the output: recorded {} units, {} bytes; model {} units, {} bytes", dst_units, output.bytes(), units.size(),
                         model.packed.bytes());
    });
  }
  const std::int64_t out_bits = 8 * output.bytes() / dst_units;
  compare_forward(places, recorded, units, read_pad_values(entry, out_bits), out_bits, findings);
  compare_backward(places, recorded, src_units, findings);
  compare_values(entry, *model.cast, findings);
  if (const Json* digest = fields.find("check_output_fnv1a64"); digest != nullptr && !digest->is_null()) {
    compare_digest(call, model, read_seed(fields.at("check_random_seed"), entry.where), read_digest(*digest, entry.where), entry.input.bytes(),
                   findings);
  }
}

}  // namespace mx::golden
