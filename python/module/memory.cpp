#include "python/module/memory.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/model_query.hpp"

namespace mx::python {

verbs::LayoutQuery query_of(const std::string& name, const Fields& fields) {
  verbs::LayoutQuery query{name, {}};
  for (const auto& [key, value] : fields) query.fields.push_back({key, value});
  return verbs::of_model(std::move(query));
}

verbs::BackendChoice backend_choice(const verbs::LayoutQuery& query) {
  if (verbs::layout_named(query.name).backends.empty()) {
    throw Error(ErrorCode::usage, "'" + query.name + "' is a building block and no backend");
  }
  return std::get<verbs::BackendChoice>(verbs::choice_of(query));
}

verbs::BackendChoice choice_of(const std::string& backend, const Fields& fields) { return backend_choice(query_of(backend, fields)); }

layout::Form form_of(const std::string& format, const std::string& order) {
  return {layout::weight_format_named(format), layout::source_order_named(order)};
}

layout::Sizes sizes_of(const std::string& format, const Extents& extents) {
  const std::int64_t group = layout::group_of(layout::weight_format_named(format));
  return {extents[0], extents[1], extents[2], std::max<std::int64_t>(group, 1)};
}

checkpoint::ConvertOptions convert_options(const std::string& backend, const Fields& fields, int rank, std::optional<int> layer_group) {
  checkpoint::ConvertOptions options{.backend = backend, .setting = {}, .rank = rank};
  deployment::ParallelRequest parallel;
  for (const auto& [key, value] : fields) {
    if (key == "dp") parallel.dp = static_cast<int>(families::whole_number("dp", value, 1, 4096));
    if (key == "ep") parallel.enable_expert_parallel = value == "yes";
    if (key == "dp" || key == "ep") continue;
    const families::SettingKey* const known = families::find_setting_key(key);
    if (known == nullptr) throw Error(ErrorCode::usage, "'" + key + "' is no choice of a checkpoint's conversion", backend);
    known->set(options.setting, value);
    if (known->key == "activation") options.activation = options.setting.activation;
  }
  parallel.tp = options.setting.tp_size;
  options.setting.tp_size = deployment::tensor_ranks(parallel);
  if (layer_group) options.layer_group = *layer_group - 1;
  return options;
}

layout::CanonicalLayer layer_of(const layout::Form& form, const layout::Sizes& sizes, const NamedBytes& tensors) {
  layout::CanonicalLayer layer{sizes, form, {}};
  for (const auto& [name, bytes] : tensors) {
    const layout::Role role = layout::role_named(name);
    if (!layout::has_role(form.format, role)) {
      throw Error(ErrorCode::usage, std::string(layout::name_of(form.format)) + " has no " + name, name);
    }
    layer[role].assign(bytes.data(), bytes.data() + bytes.size());
  }
  return layer;
}

families::PackedLayer packed_of(const verbs::BackendChoice& choice, const NamedBytes& tensors) {
  families::PackedLayer packed{std::string(choice.row->backend), choice.setting, {}, {}};
  for (const auto& [name, bytes] : tensors) {
    const layout::Role role = layout::role_named(name);
    layout::TensorPlan plan = choice.row->build(role, choice.setting);
    packed.tensors.push_back({role, std::move(plan.layout), plan.cast, {bytes.data(), bytes.data() + bytes.size()}});
  }
  return packed;
}

nb::object bytes_of(std::vector<std::uint8_t>&& bytes) {
  auto* const kept = new std::vector<std::uint8_t>(std::move(bytes));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<std::uint8_t>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

Team::Team() : before_(omp_get_max_threads()) { omp_set_num_threads(workers().threads); }
Team::~Team() { omp_set_num_threads(before_); }

}  // namespace mx::python
