#include "golden/witness/layout_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "golden/witness/layouts.hpp"
#include "golden/witness/tensor.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kPadding = -1;    // in recorded files: constant padding
constexpr std::int64_t kUnwritten = -2;  // in recorded files: left as it was
constexpr std::int64_t kMixed = -4;      // of the model: the grains of one unit do not come from one unit
constexpr std::uint32_t kNeutralByte = 0x7F;

/// Units of the record against grains of the model: one of the two numbers is 1.
struct Ratio {
  std::int64_t grains_per_unit;
  std::int64_t units_per_grain;
};

Ratio ratio_of(std::int64_t unit_bits, int grain_bits, const std::string& where) {
  if (unit_bits >= grain_bits && unit_bits % grain_bits == 0) return {unit_bits / grain_bits, 1};
  if (unit_bits < grain_bits && grain_bits % unit_bits == 0) return {1, grain_bits / unit_bits};
  broken(fmt::format("units of {} bits against {} bits of the model", unit_bits, grain_bits), where);
}

/// For each grain of memory the grain of the source's memory, or the layout's code for padding.
std::vector<std::int64_t> source_grains(const LayoutModel& model) {
  const std::vector<std::int64_t> logical_at = model.source.gather();
  std::vector<std::int64_t> address_of(logical_at.size());
  for (std::size_t address = 0; address < logical_at.size(); ++address)
    address_of[static_cast<std::size_t>(logical_at[address])] = static_cast<std::int64_t>(address);
  std::vector<std::int64_t> grains = model.packed.gather();
  for (std::int64_t& grain : grains) {
    if (grain >= 0) grain = address_of[static_cast<std::size_t>(grain)];
  }
  return grains;
}

/// The model's permutation in the units of the record.
std::vector<std::int64_t> model_units(const LayoutModel& model, const Ratio& ratio) {
  const std::vector<std::int64_t> grains = source_grains(model);
  std::vector<std::int64_t> units;
  const auto step = static_cast<std::size_t>(ratio.grains_per_unit);
  for (std::size_t first = 0; first + step <= grains.size(); first += step) {
    const std::int64_t grain = grains[first];
    bool together = grain < 0 || grain % ratio.grains_per_unit == 0;
    for (std::size_t k = 1; k < step; ++k) together = together && grains[first + k] == (grain < 0 ? grain : grain + static_cast<std::int64_t>(k));
    for (std::int64_t part = 0; part < ratio.units_per_grain; ++part) {
      units.push_back(!together ? kMixed : grain < 0 ? grain : grain / ratio.grains_per_unit * ratio.units_per_grain + part);
    }
  }
  return units;
}

std::string coordinate_text(const std::vector<layout::Axis>& axes, const layout::Coord& coord) {
  std::string text;
  for (std::size_t i = 0; i < coord.size(); ++i) text += fmt::format("{}{}={}", i == 0 ? "" : " ", i < axes.size() ? axes[i].name : "?", coord[i]);
  return text;
}

/// "unit 17 (E=0 half=1 I=3 K=0)", or what else a position holds.
std::string source_text(const LayoutModel& model, const Ratio& ratio, std::int64_t unit) {
  if (unit == kMixed) return "pieces of several units";
  if (unit == layout::Layout::kPadUnwritten) return "an unwritten position";
  if (unit == layout::Layout::kPadNeutral) return "neutral padding";
  if (unit < 0) return "padding";
  const std::int64_t grain = unit / ratio.units_per_grain * ratio.grains_per_unit;
  if (grain >= model.source.cosize()) return fmt::format("unit {}, which the input does not have", unit);
  return fmt::format("unit {} ({})", unit, coordinate_text(model.source.logical(), *model.source.inverse(grain).coord));
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
  bool stated = false;
  std::vector<std::int64_t> values;
  bool allow(std::int64_t model) const {
    const std::int64_t value = model == layout::Layout::kPadNeutral ? static_cast<std::int64_t>(kNeutralByte) : 0;
    return !stated || std::find(values.begin(), values.end(), value) != values.end();
  }
};

PadValues read_pad_values(const LayoutEntry& entry) {
  PadValues pads;
  // The CuTe layout object says where elements go; it says nothing of the positions between them.
  const Json& json = entry.json->at("pad_values");
  if (json.is_null() || entry.layout == "sf_128x4.cutlass_atom") return pads;
  if (!json.is_array()) broken("pad_values must be an array or null", entry.where);
  pads.stated = true;
  for (const Json& value : json) {
    if (!value.is_number_integer()) throw Unmodelled("pad_values holds " + shown(value));
    pads.values.push_back(value.get<std::int64_t>());
  }
  return pads;
}

bool same_place(std::int64_t recorded, std::int64_t model, const PadValues& pads) {
  if (recorded != kPadding) return recorded == model;
  return (model == layout::Layout::kPadZero || model == layout::Layout::kPadNeutral) && pads.allow(model);
}

std::vector<std::uint8_t> convert(const LayoutModel& model, std::span<const std::uint8_t> bytes) {
  if (model.cast->keeps()) return layout::apply(model.source, bytes, model.packed);
  // The one cast: bf16 to fp32, the same bits above 16 zeros.
  const std::vector<std::int64_t> grains = source_grains(model);
  std::vector<std::uint8_t> out(4 * grains.size(), 0);
  for (std::size_t i = 0; i < grains.size(); ++i) {
    if (grains[i] < 0) continue;
    out[4 * i + 2] = bytes[2 * static_cast<std::size_t>(grains[i])];
    out[4 * i + 3] = bytes[2 * static_cast<std::size_t>(grains[i]) + 1];
  }
  return out;
}

std::uint64_t hex_digest(const Json& json, const std::string& where) {
  const std::string text = json.is_string() ? json.get<std::string>() : std::string();
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    broken("a digest is 16 hexadecimal digits, not " + shown(json), where);
  return std::stoull(text, nullptr, 16);
}

std::uint64_t seed_of(const Json& json, const std::string& where) {
  if (!json.is_number_unsigned()) broken("a seed is a positive integer, not " + shown(json), where);
  return json.get<std::uint64_t>();
}

void compare_digest(const LayoutModel& model, std::uint64_t seed, std::uint64_t want, std::int64_t bytes, LayoutFindings& findings) {
  const std::vector<std::uint8_t> input = generated_bytes(seed, bytes);
  const std::vector<std::uint8_t> output = convert(model, input);
  const std::uint64_t got = fnv1a64(output);
  findings.compared();
  if (got != want)
    findings.differs([&] { return fmt::format("digest of the output for seed {}: recorded {:016x}, model {:016x}", seed, want, got); });
  if (!model.cast->keeps()) return;
  findings.compared();
  if (layout::apply(model.packed, output, model.source) != input)
    findings.differs([] { return std::string("the model's way back does not give the input again"); });
}

std::uint64_t little_endian(const std::string& hex, const std::string& where) {
  if (hex.empty() || hex.size() > 16 || hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    broken("value_map has the bytes '" + hex + "'", where);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < hex.size(); i += 2) value |= std::stoull(hex.substr(i, 2), nullptr, 16) << (4 * i);
  return value;
}

void compare_values(const LayoutEntry& entry, const LayoutModel& model, LayoutFindings& findings) {
  const auto map = entry.json->find("value_map");
  if (map == entry.json->end()) return;
  if (!map->is_object()) broken("value_map must be an object", entry.where);
  for (const auto& [from, outputs] : map->items()) {
    const std::uint64_t input = little_endian(from, entry.where);
    const std::uint64_t got = model.cast->make(input);
    if (!outputs.is_array()) broken("value_map of " + from + " must be an array", entry.where);
    for (const Json& output : outputs) {
      const std::uint64_t want = little_endian(output.is_string() ? output.get<std::string>() : std::string(), entry.where);
      findings.compared();
      if (want != got) findings.differs([&] { return fmt::format("value 0x{:X}: recorded 0x{:X}, model 0x{:X}", input, want, got); });
    }
  }
}

// Index maps take 8 bytes a grain; converting needs the bytes alone.
constexpr std::int64_t kMostMappedBytes = std::int64_t{1} << 26;
constexpr std::int64_t kMostConvertedBytes = std::int64_t{1} << 31;

LayoutModel checked_model(const LayoutEntry& entry, const KnownConversion& conversion, std::int64_t most_bytes) {
  if (entry.input.bytes() > most_bytes)
    throw Unmodelled(fmt::format("an input of {} bytes: at most {} are compared", entry.input.bytes(), most_bytes));
  if (entry.input.elements == 0) broken("entry has no 'input'", entry.where);
  LayoutModel model = build_model(conversion, entry.role, 8 * entry.input.element_bytes);
  if (model.source.bytes() != entry.input.bytes())
    broken(fmt::format("input has {} bytes, the parameters give {}", entry.input.bytes(), model.source.bytes()), entry.where);
  return model;
}

void compare_forward(const LayoutModel& model, const Ratio& ratio, const std::vector<std::int64_t>& recorded, const std::vector<std::int64_t>& units,
                     const PadValues& pads, std::int64_t out_bits, LayoutFindings& findings) {
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
                         source_text(model, ratio, recorded[d]), source_text(model, ratio, units[d]));
    });
  }
}

// The recorded output read back through the model: where the model finds a source unit, the record must have put it. Uses the layout's own forward
// function, not the map that the comparison above walked.
void compare_backward(const LayoutModel& model, const Ratio& ratio, const std::vector<std::int64_t>& recorded, std::int64_t src_units,
                      LayoutFindings& findings) {
  std::vector<bool> kept(static_cast<std::size_t>(src_units), false);
  for (const std::int64_t unit : recorded) {
    if (unit >= 0 && unit < src_units) kept[static_cast<std::size_t>(unit)] = true;
  }
  for (std::int64_t s = 0; s < src_units; ++s) {
    if (!kept[static_cast<std::size_t>(s)]) continue;
    const std::int64_t grain = s / ratio.units_per_grain * ratio.grains_per_unit;
    const auto address = model.packed.at(*model.source.inverse(grain).coord);
    const std::int64_t unit = address ? *address / ratio.grains_per_unit * ratio.units_per_grain + s % ratio.units_per_grain : kMixed;
    const std::int64_t found = unit >= 0 ? recorded[static_cast<std::size_t>(unit)] : kMixed;
    if (found == kUnwritten) continue;
    findings.compared();
    if (found == s) continue;
    findings.differs([&] {
      const std::string place =
          address ? fmt::format("destination unit {}, where the record has {}", unit, source_text(model, ratio, found)) : "nowhere";
      return fmt::format("backward: the model reads source {} from {}", source_text(model, ratio, s), place);
    });
  }
}

}  // namespace

std::vector<std::uint8_t> generated_bytes(std::uint64_t seed, std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    bytes[i] = static_cast<std::uint8_t>(z ^ (z >> 31U));
  }
  return bytes;
}

std::uint64_t fnv1a64(std::span<const std::uint8_t> bytes) {
  std::uint64_t digest = 0xCBF29CE484222325U;
  for (const std::uint8_t byte : bytes) digest = (digest ^ byte) * 0x100000001B3U;
  return digest;
}

void run_perm(const LayoutEntry& entry, const std::filesystem::path& directory, LayoutFindings& findings) {
  const KnownConversion conversion = conversion_of(entry);
  Fields fields(*entry.json, "entry", entry.where);
  static constexpr struct { std::string_view word; } kUnits[] = {{"bit"}, {"nibble"}, {"byte"}, {"element16"}, {"element32"}, {"row"}, {"value"}};
  const bool is_value = row_named(kUnits, "unit", fields.text("unit")).word == "value";
  const std::int64_t unit_bits = fields.integer("unit_bits", 1, std::int64_t{1} << 30);
  const std::int64_t src_units = fields.integer("src_units", 1, std::int64_t{1} << 31);
  const std::int64_t dst_units = fields.integer("dst_units", 1, std::int64_t{1} << 31);
  fields.at("pad_values");
  fields.at("files");
  const LayoutModel model = checked_model(entry, conversion, kMostMappedBytes);
  if (src_units * unit_bits != 8 * entry.input.bytes()) broken("src_units and unit_bits do not give the input's size", entry.where);
  const ArrayShape output = read_array(fields.at("output"), "output", entry.where);
  if (!is_value && !model.cast->keeps()) throw Unmodelled("units of a tensor whose values change");

  const Ratio ratio = ratio_of(unit_bits, model.source.grain_bits(), entry.where);
  const std::vector<std::int64_t> recorded = read_perm(entry, directory, dst_units);
  if (8 * model.packed.bytes() % unit_bits != 0) {
    broken(fmt::format("units of {} bits do not divide an output of {} bytes", unit_bits, model.packed.bytes()), entry.where);
  }
  const std::vector<std::int64_t> units = model_units(model, ratio);
  if (units.size() != recorded.size() || output.bytes() != model.packed.bytes()) {
    findings.compared();
    return findings.differs([&] {
      return fmt::format("size of the output: recorded {} units, {} bytes; model {} units, {} bytes", dst_units, output.bytes(), units.size(),
                         model.packed.bytes());
    });
  }
  const std::int64_t out_bits = 8 * output.bytes() / dst_units;
  compare_forward(model, ratio, recorded, units, read_pad_values(entry), out_bits, findings);
  compare_backward(model, ratio, recorded, src_units, findings);
  compare_values(entry, model, findings);
  if (const Json* digest = fields.find("check_output_fnv1a64")) {
    compare_digest(model, seed_of(fields.at("check_random_seed"), entry.where), hex_digest(*digest, entry.where), entry.input.bytes(), findings);
  }
}

void run_hash(const LayoutEntry& entry, LayoutFindings& findings) {
  const KnownConversion conversion = conversion_of(entry);
  const LayoutModel model = checked_model(entry, conversion, kMostConvertedBytes);
  Fields input(entry.json->at("input"), "input", entry.where);
  if (const std::string generator = input.text("generator"); generator != "splitmix64-low-byte")
    throw Unmodelled("unknown generator '" + generator + "'");
  if (input.integer("bytes") != entry.input.bytes()) broken("input 'bytes' does not fit its shape", entry.where);
  Fields fields(*entry.json, "entry", entry.where);
  const Json& json = fields.at("output");
  const ArrayShape shape = read_array(json, "output", entry.where);
  Fields output(json, "output", entry.where);
  if (output.integer("bytes") != shape.bytes()) broken("output 'bytes' does not fit its shape", entry.where);
  if (shape.bytes() != model.packed.bytes()) {
    findings.compared();
    return findings.differs([&] { return fmt::format("size of the output: recorded {} bytes, model {}", shape.bytes(), model.packed.bytes()); });
  }
  compare_digest(model, seed_of(input.at("seed"), entry.where), hex_digest(output.at("fnv1a64"), entry.where), entry.input.bytes(), findings);
}

}  // namespace mx::golden
