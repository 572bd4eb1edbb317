// kind io of layout-vectors/2: literal bytes in and out, for blocks and whole conversions that change values.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "golden/witness/layout_kinds.hpp"
#include "golden/witness/tensor.hpp"

namespace mx::golden {

namespace {

using layout::Role;

/// Names of a layer's tensors in `inputs` and `outputs`.
constexpr EnumWord<Role> kTensorNames[] = {{"w13", Role::w13_weight},
                                           {"w13_scale", Role::w13_weight_scale},
                                           {"w13_scale_2", Role::w13_global_scale},
                                           {"w2", Role::w2_weight},
                                           {"w2_scale", Role::w2_weight_scale},
                                           {"w2_scale_2", Role::w2_global_scale},
                                           {"w13_chan", Role::w13_channel_scale},
                                           {"w2_chan", Role::w2_channel_scale},
                                           // A matrix alone is w2's.
                                           {"weight", Role::w2_weight},
                                           {"weight_scale", Role::w2_weight_scale},
                                           {"weight_scale_2", Role::w2_global_scale}};

/// A tensor of an entry, with its bytes.
struct IoTensor {
  ArrayShape shape;
  std::vector<std::uint8_t> bytes;
};
using IoTensors = std::map<std::string, IoTensor>;

IoTensors read_tensors(const LayoutEntry& entry, const char* group, const std::filesystem::path& directory) {
  IoTensors tensors;
  Fields fields(*entry.json, "entry", entry.where);
  for (const auto& [name, json] : fields.at(group).items()) {
    IoTensor tensor{read_array(json, name, entry.where), {}};
    const TensorSpec spec{&dtype_named("u8"), {tensor.shape.bytes()}, tensor.shape.bytes(), json.at("file").get<std::string>(), {}, 0, {}};
    tensor.bytes = load(spec, directory, entry.where).bytes;
    tensors.emplace(name, std::move(tensor));
  }
  if (tensors.empty()) broken(std::string(group) + " names no tensor", entry.where);
  return tensors;
}

/// What the model makes of the inputs, by output name.
using ModelTensors = std::map<std::string, std::vector<std::uint8_t>>;

ModelTensors run_value_block(const ValueCall& call, const IoTensors& inputs, LayoutFindings& findings) {
  families::BlockTensors tensors;
  for (const auto& [name, tensor] : inputs) tensors[name] = {8 * tensor.shape.dtype->bytes, tensor.shape.extents, tensor.bytes};
  families::BlockTensors results = families::run_block(*call.block, tensors, call.params);
  compare_undone(call, tensors, results, findings);
  ModelTensors outputs;
  for (auto& [name, tensor] : results) outputs[name] = std::move(tensor.bytes);
  return outputs;
}

/// A building block that only moves units: one tensor in, the one of the same name out.
ModelTensors run_block(const LayoutCall& call, const LayoutEntry& entry, const IoTensors& inputs) {
  if (inputs.size() != 1) no_model(entry, " of several tensors");
  const auto& [name, tensor] = *inputs.begin();
  return {{name, packed_bytes(call, model_of(call, entry), tensor.bytes).bytes}};
}

/// The layer, or none when the inputs are not the checkpoint's tensors.
std::optional<layout::CanonicalLayer> layer_of(const BackendCall& call, const IoTensors& inputs) {
  layout::CanonicalLayer layer{call.setting.sizes, call.setting.form, {}};
  for (const auto& [name, tensor] : inputs) {
    const Role role = row_named(kTensorNames, "tensor", name).value;
    if (layout::canonical(role, call.setting.sizes, call.setting.form).bytes() != tensor.shape.bytes()) return std::nullopt;
    layer[role] = tensor.bytes;
  }
  for (const Role role : layout::kAllRoles) {
    const bool is_asked = layout::has_role(call.setting.form.format, role) && (call.setting.has_bias || !layout::is_bias(role));
    if (is_asked && layer[role].empty())
      layer[role].assign(static_cast<std::size_t>(layout::canonical(role, call.setting.sizes, call.setting.form).bytes()), 0);
  }
  return layer;
}

/// The call with the form that the inputs have: gate and up may have one scale or one each.
BackendCall with_form_of(BackendCall call, const IoTensors& inputs) {
  const auto scale = inputs.find("w13_scale");
  if (call.setting.form.format != layout::WeightFormat::fp8_tensor || scale == inputs.end()) return call;
  if (scale->second.shape.elements == 2 * call.setting.sizes.experts) call.setting.form.format = layout::WeightFormat::fp8_pair;
  return call;
}

/// Restores what was packed, and holds against the inputs the tensors that nothing was lost of.
void compare_restored(const families::PackedLayer& packed, const IoTensors& inputs, LayoutFindings& findings) {
  const layout::CanonicalLayer restored = families::restore(packed, families::OnLoss::mark);
  for (const auto& [name, tensor] : inputs) {
    const Role role = row_named(kTensorNames, "tensor", name).value;
    if (std::ranges::any_of(packed.losses, [role](const layout::Loss& loss) { return loss.role == role; })) {
      findings.skipped();
      continue;
    }
    findings.compared();
    if (restored[role] != tensor.bytes) findings.differs([&name = name] { return "backward: restoring does not give input '" + name + "' again"; });
  }
}

ModelTensors run_backend(const BackendCall& call, const layout::CanonicalLayer& layer, const IoTensors& inputs, LayoutFindings& findings) {
  const families::BackendLayout& row = *call.row();
  const families::PackedLayer packed = families::convert(layer, row, call.setting);
  if (row.values == nullptr || row.undo_values != nullptr) compare_restored(packed, inputs, findings);
  ModelTensors outputs;
  for (const auto& name : kTensorNames) {
    if (const layout::PackedTensor* tensor = packed.find(name.value)) outputs[std::string(name.word)] = tensor->bytes;
  }
  return outputs;
}

std::uint64_t code_at(std::span<const std::uint8_t> bytes, std::int64_t i, int width) {
  std::uint64_t code = 0;
  for (int b = width; b-- > 0;) code = code << 8U | bytes[static_cast<std::size_t>(i * width + b)];
  return code;
}

/// Codes in ascending order of the numbers they stand for: negative numbers below zero.
std::int64_t ordered(std::uint64_t code, const LayoutDtype& dtype) {
  if (dtype.sign_bit < 0) return static_cast<std::int64_t>(code);
  const std::uint64_t sign = std::uint64_t{1} << dtype.sign_bit;
  const auto magnitude = static_cast<std::int64_t>(code & (sign - 1));
  return (code & sign) != 0 ? -magnitude : magnitude;
}

void compare_output(const std::string& name, const IoTensor& recorded, std::span<const std::uint8_t> model, std::int64_t tolerance,
                    LayoutFindings& findings) {
  if (static_cast<std::int64_t>(model.size()) != recorded.shape.bytes()) {
    findings.compared();
    return findings.differs(
        [&] { return fmt::format("size of output '{}': recorded {} bytes, model {}", name, recorded.shape.bytes(), model.size()); });
  }
  const LayoutDtype& dtype = *recorded.shape.dtype;
  for (std::int64_t i = 0; i < recorded.shape.elements; ++i) {
    const std::uint64_t want = code_at(recorded.bytes, i, dtype.bytes);
    const std::uint64_t got = code_at(model, i, dtype.bytes);
    findings.compared();
    if (want == got) continue;
    const std::int64_t distance = ordered(want, dtype) - ordered(got, dtype);
    // Equal places of unequal codes are the two zeros, which only a tolerance makes equal.
    if (tolerance > 0 && distance <= tolerance && -distance <= tolerance) continue;
    findings.differs([&] { return fmt::format("{}: recorded 0x{:X}, model 0x{:X}", element_name(name, recorded.shape.extents, i), want, got); });
  }
}

/// Largest distance in codes by output; an output that is not named must be equal.
std::map<std::string, std::int64_t> read_tolerances(const LayoutEntry& entry, const IoTensors& outputs) {
  std::map<std::string, std::int64_t> tolerances;
  const auto json = entry.json->find("ulp_tolerance");
  if (json == nullptr) return tolerances;
  Fields fields(*json, "ulp_tolerance", entry.where);
  for (const auto& [name, value] : json->items()) {
    if (!outputs.contains(name)) broken("ulp_tolerance names '" + name + "', which is no output", entry.where);
    tolerances[name] = fields.integer(name, 0, 1 << 20);
  }
  return tolerances;
}

/// What every converter of the model that answers to the name makes of the inputs.
std::vector<ModelTensors> run_models(const LayoutEntry& entry, const IoTensors& inputs, LayoutFindings& findings) {
  std::vector<ModelTensors> models;
  if (const auto value = value_call(entry)) models.push_back(run_value_block(*value, inputs, findings));
  if (entry.stage == "stage-level") {
    if (models.empty()) models.push_back(run_block(call_of(entry), entry, inputs));
    return models;
  }
  const BackendCall backend = with_form_of(backend_call(entry), inputs);
  if (backend.row() == nullptr) no_model(entry);
  if (const auto layer = layer_of(backend, inputs)) models.push_back(run_backend(backend, *layer, inputs, findings));
  if (models.empty()) no_model(entry, " of such tensors");
  return models;
}

}  // namespace

void compare_undone(const ValueCall& call, const families::BlockTensors& inputs, const families::BlockTensors& outputs, LayoutFindings& findings) {
  if (call.block->undo == nullptr) return findings.skipped(static_cast<std::int64_t>(inputs.size()));
  families::BlockParams params = call.params;
  families::complete_params(call.block->name, call.block->params, params);
  const families::BlockTensors undone = call.block->undo(outputs, params);
  for (const auto& [name, tensor] : inputs) {
    const auto found = undone.find(name);
    findings.compared();
    if (found == undone.end() || found->second.bytes != tensor.bytes)
      findings.differs([&name = name] { return "backward: the way back does not give input '" + name + "' again"; });
  }
}

void run_io(const LayoutEntry& entry, const std::filesystem::path& directory, LayoutFindings& findings) {
  const IoTensors inputs = read_tensors(entry, "inputs", directory);
  const IoTensors outputs = read_tensors(entry, "outputs", directory);
  const auto tolerances = read_tolerances(entry, outputs);
  LayoutEntry with_shape = entry;
  with_shape.input = inputs.begin()->second.shape;
  for (const ModelTensors& model : run_models(with_shape, inputs, findings)) {
    for (const auto& [name, recorded] : outputs) {
      const auto found = model.find(name);
      if (found == model.end()) throw Unmodelled("no model for output '" + name + "' of " + entry.layout);
      const auto tolerance = tolerances.find(name);
      compare_output(name, recorded, found->second, tolerance == tolerances.end() ? 0 : tolerance->second, findings);
    }
  }
}

}  // namespace mx::golden
