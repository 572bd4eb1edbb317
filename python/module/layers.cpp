// Layers into backends' memory and back.

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <tuple>
#include <utility>

#include "checkpoint/checkpoint_conversion.hpp"
#include "checkpoint/layer_packer.hpp"
#include "checkpoint/layout_tags.hpp"
#include "checkpoint/served_model.hpp"
#include "checkpoint/shard.hpp"
#include "kernels/relayout/tensor.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/families/convert.hpp"
#include "model/families/kernel_form.hpp"
#include "model/families/setting_keys.hpp"
#include "python/module/memory.hpp"
#include "support/file.hpp"
#include "verbs/layout/model_query.hpp"
#include "verbs/layout/where.hpp"
#include "verbs/select/engine_notes.hpp"

namespace mx::python {
namespace {

/// Name, dtype (U8, BF16, F16, F32), shape, bytes.
using Tensor = std::tuple<std::string, std::string, std::vector<std::int64_t>, nb::object>;
/// Tensor, what is lost, units of it.
using Loss = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

std::vector<Loss> losses_of(const std::vector<layout::Loss>& losses) {
  std::vector<Loss> all;
  for (const layout::Loss& loss : losses) all.emplace_back(layout::name_of(loss.role), loss.what, loss.units, loss.kept);
  return all;
}

/// The choices that packed a layer, as "NAME,key=value,...", its tensors, what it lost.
using PackedParts = std::tuple<std::string, std::vector<Tensor>, std::vector<Loss>>;

PackedParts parts_of(const verbs::BackendChoice& choice, std::vector<layout::PackedTensor>&& tensors, const std::vector<layout::Loss>& losses) {
  std::vector<Tensor> made;
  for (layout::PackedTensor& tensor : tensors) {
    const support::TensorEntry entry = checkpoint::packed_entry("", tensor);
    made.emplace_back(layout::name_of(tensor.role), entry.dtype, std::vector<std::int64_t>(entry.shape.begin(), entry.shape.end()),
                      bytes_of(std::move(tensor.bytes)));
  }
  return {verbs::spec_of(choice), std::move(made), losses_of(losses)};
}

/// `rank`: of the fields' tp, whose part of the whole layer is packed; the arrays are a rank's own where the fields say rank-shape.
PackedParts pack(const std::string& backend, const Fields& fields, const NamedBytes& tensors, int rank) {
  verbs::BackendChoice choice = choice_of(backend, fields);
  families::PackedLayer packed;
  {
    const bool is_whole = choice.whole.experts > 0;
    layout::CanonicalLayer layer = layer_of(choice.setting.form, is_whole ? choice.whole : choice.setting.sizes, tensors);
    if (is_whole)
      layer = checkpoint::shard(layer, {rank, choice.setting.tp_size, choice.setting.sizes.intermediate, choice.setting.sizes.group}, kernels::relayout::kMoveByPlans);
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const support::StopPoint never;
    packed = checkpoint::LayerPacker(layer, *choice.row, choice.setting, kernels::relayout::MoveBy::plans, never).collect();
  }
  choice.setting = packed.setting;
  return parts_of(choice, std::move(packed.tensors), packed.losses);
}

/// The place of the layer whose tensors' names have this number.
int place_of(const checkpoint::CheckpointConversion& conversion, int layer) {
  const checkpoint::Checkpoint& checkpoint = conversion.checkpoint();
  for (int i = 0; i < checkpoint.layer_count(); ++i) {
    if (checkpoint.layer_index(i) == layer) return i;
  }
  throw Error(ErrorCode::usage,
              "layer " + std::to_string(layer) + " is not in " + std::to_string(checkpoint.layer_index(0)) + ".." +
                  std::to_string(checkpoint.layer_index(checkpoint.layer_count() - 1)),
              checkpoint.path().string());
}

/// A checkpoint's layer, as `mxact convert --any-platform` packs it; the checkpoint decides what the fields do not say.
/// `layer_group`: counted from 1; none: the first that the backend converts.
PackedParts pack_checkpoint(const std::string& path, int layer, int rank, std::optional<int> layer_group, const std::string& backend,
                            const Fields& fields) {
  const checkpoint::ConvertOptions options = convert_options(backend, fields, rank, layer_group);
  families::PackedLayer packed;
  const families::BackendLayout* row = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const checkpoint::CheckpointConversion conversion(path, options);
    const checkpoint::GroupConversion& group = conversion.layer_groups().front();
    row = group.backend;
    packed = conversion.packer_of(group, place_of(conversion, layer)).collect();
  }
  return parts_of({row, layout::Role::w13_weight, packed.setting}, std::move(packed.tensors), packed.losses);
}

/// The backend that the engine chooses for a layer of a model, or for its first kind, by its configuration. Of the fields it reads platform, tp and
/// engine.
std::string chosen_backend(const std::string& path, std::optional<int> layer, const Fields& fields) {
  if (!support::is_there(path)) throw Error(ErrorCode::input, "there is no such file or directory", path);
  if (!checkpoint::is_model(path))
    throw Error(ErrorCode::usage, "backend is missing, and there is no config.json by which the engine would choose one", path);
  verbs::LayoutQuery query{path, {}};
  if (layer) query.fields.push_back({"layer", std::to_string(*layer)});
  for (const auto& [key, value] : fields) query.fields.push_back({key, value});
  const nb::gil_scoped_release unlocked;
  return verbs::of_model(std::move(query)).name;
}

/// A tensor's dtype and shape in a checkpoint: experts, rows with gate and up in one axis, and bytes or numbers of a row.
std::pair<std::string, std::vector<std::int64_t>> checkpoint_form(layout::Role role, const families::Setting& setting) {
  const int bits = layout::unit_bits(role, setting.form.format);
  std::vector<std::int64_t> shape;
  for (const layout::Axis& axis : layout::logical_axes(role, setting.sizes, setting.form)) {
    if (shape.size() == 2 && layout::is_w13(role) && axis.name != "K" && axis.name != "G" && axis.name != "KB") {
      shape.back() *= axis.extent;
    } else {
      shape.push_back(axis.extent);
    }
  }
  if (bits == 4) shape.back() /= 2;
  if (bits == 32) return {"F32", shape};
  if (bits == 16) return {layout::is_bias(role) && setting.params_dtype == families::ParamsDtype::fp16 ? "F16" : "BF16", shape};
  return {"U8", shape};
}

using TensorForms = std::vector<std::tuple<std::string, std::string, std::vector<std::int64_t>>>;

TensorForms forms_of(const families::Setting& setting) {
  TensorForms tensors;
  for (const layout::Role role : layout::kAllRoles) {
    if (!layout::has_role(setting.form.format, role) || (layout::is_bias(role) && !setting.has_bias)) continue;
    auto [dtype, shape] = checkpoint_form(role, setting);
    tensors.emplace_back(layout::name_of(role), std::move(dtype), std::move(shape));
  }
  return tensors;
}

/// The tensors of a layer in a checkpoint's form, whoever reads it.
TensorForms plain_form(const std::string& format, const std::string& order, const Extents& extents, bool bias) {
  families::Setting setting{.sizes = sizes_of(format, extents), .padded = {}, .form = form_of(format, order)};
  layout::check(setting.sizes);
  setting.padded = setting.sizes;
  setting.has_bias = bias;
  return forms_of(setting);
}

/// The tensors of a layer that is packed, in a checkpoint's form: of the whole one where tp divides it, else of what the sizes say. Both biases are
/// among them.
TensorForms layer_tensors(const std::string& backend, const Fields& fields) {
  verbs::BackendChoice choice = choice_of(backend, fields);
  if (choice.whole.experts > 0) choice.setting.sizes = choice.whole;
  choice.setting.has_bias = true;
  return forms_of(choice.setting);
}

/// A layer that the backend takes, as near to the sizes of the fields as there is one, without padding: experts, I and H, and each tensor's name,
/// dtype and shape.
std::pair<Extents, TensorForms> layer_form(const std::string& backend, const Fields& fields) {
  verbs::BackendChoice choice = choice_of(backend, fields);
  if (const auto taken = verbs::next_taken(choice)) choice = *taken;
  choice.setting.sizes = choice.setting.padded;
  families::check_needs(*choice.row, choice.setting);
  const layout::Sizes& sizes = choice.setting.sizes;
  return {{sizes.experts, sizes.intermediate, sizes.hidden}, forms_of(choice.setting)};
}

/// What lies at a byte of a packed tensor, in words.
std::string content_at(const std::string& spec, const std::string& tensor, std::int64_t byte) {
  verbs::BackendChoice choice = backend_choice(verbs::query_from(spec, {}));
  const layout::TensorPlan plan = choice.row->build(layout::role_named(tensor), choice.setting);
  return verbs::content_text(plan.layout, byte * 8 / plan.layout.grain_bits());
}

/// Dtype, shape and strides of each packed tensor as its kernel is handed it, where a source says them.
std::vector<std::tuple<std::string, std::string, std::vector<std::int64_t>, std::vector<std::int64_t>>> kernel_forms(const std::string& spec) {
  const verbs::BackendChoice choice = backend_choice(verbs::query_from(spec, {}));
  std::vector<std::tuple<std::string, std::string, std::vector<std::int64_t>, std::vector<std::int64_t>>> forms;
  for (const layout::Role role : families::tensors_of(*choice.row, choice.setting.has_bias)) {
    const std::optional<families::KernelForm> form = families::kernel_form(*choice.row, role, choice.setting);
    if (form) forms.emplace_back(layout::name_of(role), form->dtype, form->shape, form->strides);
  }
  return forms;
}

/// The formats that a version of the engine converts for a backend.
std::vector<std::string> layer_formats(const std::string& backend, const std::optional<std::string>& engine) {
  const deployment::Engine version = engine ? families::conversion_engine_named(*engine) : deployment::kDefaultEngine;
  std::vector<std::string> formats;
  for (const families::BackendLayout* row : verbs::layout_named(backend).backends) {
    if (row->engines.has(version)) formats.emplace_back(layout::name_of(row->format));
  }
  return formats;
}

/// What holds of the conversion of a spec for the version that was asked: whose it is, what changed since, the libraries of a release.
std::vector<std::string> conversion_notes(const std::string& spec, const std::string& engine) {
  const verbs::BackendChoice choice = backend_choice(verbs::query_from(spec, {}));
  const verbs::AskedEngine asked = verbs::asked_engine(engine);
  verbs::Document document{"pack"};
  verbs::EngineNotes notes(document, asked);
  notes.libraries();
  notes.conversion(choice.row->backend,
                   families::standing_text(families::conversion_at(choice.row->backend, choice.row->format, asked.engine), asked.engine));
  std::vector<std::string> texts;
  for (const verbs::Entry& entry : document.entries) {
    if (const auto* note = std::get_if<verbs::Note>(&entry)) texts.push_back(note->text);
  }
  return texts;
}

std::vector<Tensor> unpack(const std::string& spec, const NamedBytes& tensors, const std::vector<Loss>& losses, bool accept_losses) {
  const verbs::BackendChoice choice = backend_choice(verbs::query_from(spec, {}));
  families::PackedLayer packed = packed_of(choice, tensors);
  for (const auto& [name, what, units, kept] : losses) packed.losses.push_back({layout::role_named(name), what, units, kept});
  layout::CanonicalLayer layer;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    layer = families::restore(std::move(packed), accept_losses ? families::OnLoss::mark : families::OnLoss::refuse, kernels::relayout::kMoveByPlans);
  }
  std::vector<Tensor> restored;
  for (const layout::Role role : layout::kAllRoles) {
    if (layer[role].empty()) continue;
    auto [dtype, shape] = checkpoint_form(role, choice.setting);
    restored.emplace_back(layout::name_of(role), std::move(dtype), std::move(shape), bytes_of(std::move(layer[role])));
  }
  return restored;
}

}  // namespace

void bind_layers(nb::module_& module) {
  module.def("pack", pack, nb::arg("backend"), nb::arg("fields"), nb::arg("tensors"), nb::arg("rank"));
  module.def("pack_checkpoint", pack_checkpoint, nb::arg("path"), nb::arg("layer"), nb::arg("rank"), nb::arg("layer_group").none(),
             nb::arg("backend"), nb::arg("fields"));
  module.def("chosen_backend", chosen_backend, nb::arg("path"), nb::arg("layer").none(), nb::arg("fields"));
  module.def("layer_form", layer_form, nb::arg("backend"), nb::arg("fields"));
  // Throws Error(usage) with the nearest name.
  module.def(
      "check_tensor_name", [](const std::string& name) { layout::role_named(name); }, nb::arg("name"));
  module.def("layer_tensors", layer_tensors, nb::arg("backend"), nb::arg("fields"));
  module.def("plain_form", plain_form, nb::arg("format"), nb::arg("order"), nb::arg("extents"), nb::arg("bias"));
  module.def("conversion_notes", conversion_notes, nb::arg("spec"), nb::arg("engine"));
  module.def("layer_formats", layer_formats, nb::arg("backend"), nb::arg("engine").none());
  module.def("kernel_forms", kernel_forms, nb::arg("spec"));
  module.def("content_at", content_at, nb::arg("spec"), nb::arg("tensor"), nb::arg("byte"));
  module.def("unpack", unpack, nb::arg("spec"), nb::arg("tensors"), nb::arg("losses"), nb::arg("accept_losses"));
}

}  // namespace mx::python
