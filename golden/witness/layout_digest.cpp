// kind hash of layout-vectors/2, and the digests that permutations carry: outputs of generated input.

#include <fmt/format.h>

#include <algorithm>

#include "golden/witness/layout_kinds.hpp"
#include "golden/witness/layouts.hpp"
#include "model/layout/grains.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kMostConvertedBytes = std::int64_t{1} << 31;

/// The grains of the input, against what the way back gives.
void compare_restored(const LayoutModel& model, std::uint64_t seed, std::span<const std::uint8_t> input, const RestoredBytes& restored,
                      LayoutFindings& findings) {
  const int bits = model.source.grain_bits();
  const std::int64_t held = std::ranges::count(restored.lost, false);
  findings.skipped(static_cast<std::int64_t>(restored.lost.size()) - held);
  if (held == 0) return;
  findings.compared();
  for (std::size_t i = 0; i < restored.lost.size(); ++i) {
    const auto grain = static_cast<std::int64_t>(i);
    if (restored.lost[i] || layout::get_grain(restored.bytes, grain, bits) == layout::get_grain(input, grain, bits)) continue;
    return findings.differs(
        [&] { return fmt::format("the model's way back does not give the input of seed {} again, first at unit {} of {} bits", seed, i, bits); });
  }
}

void compare_output(std::uint64_t seed, std::uint64_t digest, std::span<const std::uint8_t> output, LayoutFindings& findings) {
  const std::uint64_t got = fnv1a64(output);
  findings.compared();
  if (got != digest)
    findings.differs([&] { return fmt::format("digest of the output for seed {}: recorded {:016x}, model {:016x}", seed, digest, got); });
}

bool leaves_unwritten(const layout::Layout& layout) {
  return std::ranges::any_of(layout.steps(), [](const layout::Step& step) {
    const auto* pad = std::get_if<layout::Pad>(&step);
    return pad != nullptr && pad->content == layout::PadContent::unwritten;
  });
}

bool same_size(std::int64_t recorded, std::int64_t model, LayoutFindings& findings) {
  if (recorded == model) return true;
  findings.compared();
  findings.differs([&] { return fmt::format("size of the output: recorded {} bytes, model {}", recorded, model); });
  return false;
}

/// Input and output of a hash entry.
struct HashFields {
  std::uint64_t seed;
  std::uint64_t digest;
  std::int64_t output_bytes;
};

HashFields read_hash(const LayoutEntry& entry) {
  Fields input(entry.json->at("input"), "input", entry.where);
  if (const std::string generator = input.text("generator"); generator != "splitmix64-low-byte")
    throw Unmodelled("unknown generator '" + generator + "'");
  if (input.integer("bytes") != entry.input.bytes()) broken("input 'bytes' does not fit its shape", entry.where);
  Fields fields(*entry.json, "entry", entry.where);
  const Json& json = fields.at("output");
  const ArrayShape shape = read_array(json, "output", entry.where);
  Fields output(json, "output", entry.where);
  if (output.integer("bytes") != shape.bytes()) broken("output 'bytes' does not fit its shape", entry.where);
  return {read_seed(input.at("seed"), entry.where), read_digest(output.at("fnv1a64"), entry.where), shape.bytes()};
}

/// A block that changes values: one tensor goes in, the one of that name comes out; and back, where the outputs determine it.
void hash_value_block(const ValueCall& call, const LayoutEntry& entry, const HashFields& hash, LayoutFindings& findings) {
  const std::string name(call.block->inputs.front());
  if (call.block->inputs.size() != 1) no_model(entry, " of one tensor");
  const families::BlockTensors inputs{{name, {8 * entry.input.dtype->bytes, entry.input.extents, generated_bytes(hash.seed, entry.input.bytes())}}};
  const families::BlockTensors outputs = families::run_block(*call.block, inputs, call.params);
  const auto output = outputs.find(name);
  if (output == outputs.end()) no_model(entry, " with an output '" + name + "'");
  if (!same_size(hash.output_bytes, static_cast<std::int64_t>(output->second.bytes.size()), findings)) return;
  compare_output(hash.seed, hash.digest, output->second.bytes, findings);
  compare_undone(call, inputs, outputs, findings);
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

std::uint64_t read_digest(const Json& json, const std::string& where) {
  const std::string text = json.is_string() ? json.get<std::string>() : std::string();
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    broken("a digest is 16 hexadecimal digits, not " + shown(json), where);
  return std::stoull(text, nullptr, 16);
}

std::uint64_t read_seed(const Json& json, const std::string& where) {
  if (!json.is_number_unsigned()) broken("a seed is a positive integer, not " + shown(json), where);
  return json.get<std::uint64_t>();
}

void check_input(const LayoutEntry& entry, std::int64_t most) {
  if (entry.input.dtype == nullptr) broken("entry has no 'input'", entry.where);
  if (entry.input.bytes() > most) throw Unmodelled(fmt::format("an input of {} bytes: at most {} are compared", entry.input.bytes(), most));
}

void check_input(const LayoutEntry& entry, const LayoutModel& model) {
  if (model.source.bytes() != entry.input.bytes())
    broken(fmt::format("input has {} bytes, the parameters give {}", entry.input.bytes(), model.source.bytes()), entry.where);
}

void compare_digest(const LayoutCall& call, const LayoutModel& model, std::uint64_t seed, std::uint64_t digest, std::int64_t bytes,
                    LayoutFindings& findings) {
  const std::vector<std::uint8_t> input = generated_bytes(seed, bytes);
  const PackedBytes output = packed_bytes(call, model, input);
  // A digest over memory that nobody wrote says nothing.
  if (leaves_unwritten(model.packed)) {
    findings.skipped();
  } else {
    compare_output(seed, digest, output.bytes, findings);
  }
  compare_restored(model, seed, input, restored_bytes(call, model, output), findings);
}

void run_hash(const LayoutEntry& entry, LayoutFindings& findings) {
  const LayoutCall call = call_of(entry);
  check_input(entry, kMostConvertedBytes);
  const HashFields hash = read_hash(entry);
  if (const auto* value = std::get_if<ValueCall>(&call)) return hash_value_block(*value, entry, hash, findings);
  const LayoutModel model = model_of(call, entry);
  check_input(entry, model);
  if (same_size(hash.output_bytes, model.packed.bytes(), findings))
    compare_digest(call, model, hash.seed, hash.digest, entry.input.bytes(), findings);
}

}  // namespace mx::golden
