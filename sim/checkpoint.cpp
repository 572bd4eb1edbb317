#include "sim/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/error.hpp"
#include "sim/checkpoint_files.hpp"
#include "sim/io/quote.hpp"
#include "sim/layout_tags.hpp"

namespace mx::sim {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// Extents of a tensor, in terms of the sizes.
enum class Extent { experts, twice_intermediate, hidden, hidden_groups, intermediate_groups, block_bytes };

/// Tensors that are there together or not at all.
enum class Group { weights, biases, router };

/// One tensor of a layer. The first six are the roles, in their order.
struct PartRow {
  Group group;
  std::string_view dtype;
  std::string_view formula;
  std::array<Extent, 4> extents;
  std::size_t rank;
};
constexpr std::size_t kParts = 8;
constexpr std::size_t kRouterWeight = 6;
constexpr std::size_t kRouterBias = 7;
constexpr std::size_t kW13Weight = static_cast<std::size_t>(layout::Role::w13_weight);

/// Source: transformers modeling_gpt_oss.py, integrations/mxfp4.py; openai/gpt-oss gpt_oss/torch/weights.py.
constexpr std::array<PartRow, kParts> kPartRows{{
    {Group::weights, "U8", "[E, 2I, H/32, 16]", {Extent::experts, Extent::twice_intermediate, Extent::hidden_groups, Extent::block_bytes}, 4},
    {Group::weights, "U8", "[E, 2I, H/32]", {Extent::experts, Extent::twice_intermediate, Extent::hidden_groups}, 3},
    {Group::biases, "BF16", "[E, 2I]", {Extent::experts, Extent::twice_intermediate}, 2},
    {Group::weights, "U8", "[E, H, I/32, 16]", {Extent::experts, Extent::hidden, Extent::intermediate_groups, Extent::block_bytes}, 4},
    {Group::weights, "U8", "[E, H, I/32]", {Extent::experts, Extent::hidden, Extent::intermediate_groups}, 3},
    {Group::biases, "BF16", "[E, H]", {Extent::experts, Extent::hidden}, 2},
    {Group::router, "BF16", "[E, H]", {Extent::experts, Extent::hidden}, 2},
    {Group::router, "BF16", "[E]", {Extent::experts}, 1},
}};

/// How a release names the tensors of a layer: before + number + after + suffix.
struct NamingForm {
  std::string_view title;
  std::string_view before;
  std::string_view after;
  std::string_view experts;  ///< what every expert tensor's suffix begins with: others that do are unknown, and refused
  std::array<std::string_view, kParts> suffixes;
};
constexpr std::array<NamingForm, 2> kForms{{
    {"gpt-oss (Hugging Face names)",
     "model.layers.",
     ".mlp",
     ".experts.",
     {".experts.gate_up_proj_blocks", ".experts.gate_up_proj_scales", ".experts.gate_up_proj_bias", ".experts.down_proj_blocks",
      ".experts.down_proj_scales", ".experts.down_proj_bias", ".router.weight", ".router.bias"}},
    {"gpt-oss (original names)",
     "block.",
     ".mlp",
     ".mlp",
     {".mlp1_weight.blocks", ".mlp1_weight.scales", ".mlp1_bias", ".mlp2_weight.blocks", ".mlp2_weight.scales", ".mlp2_bias", ".gate.weight",
      ".gate.bias"}},
}};

/// One layer's tensors inside the mapped files.
struct LayerTensors {
  std::array<const LocatedTensor*, kParts> parts{};
  std::array<std::string_view, kParts> names{};
  layout::Sizes sizes{};
};
using Layers = std::map<int, LayerTensors>;

std::string place_of(const LocatedTensor& tensor, std::string_view name) {
  return fmt::format("{}: tensor {}", tensor.file->path().string(), in_quotes(name));
}

std::string tensor_name(const NamingForm& form, int layer, std::size_t part) {
  return fmt::format("{}{}{}{}", form.before, layer, form.after, form.suffixes[part]);
}

/// Layer number and suffix of a name of this form.
struct LayerName {
  int layer;
  std::string_view suffix;
};
std::optional<LayerName> split_name(const NamingForm& form, std::string_view name, const LocatedTensor& tensor) {
  if (!name.starts_with(form.before)) return std::nullopt;
  std::string_view rest = name.substr(form.before.size());
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  rest.remove_prefix(digits.size());
  if (digits.empty() || !rest.starts_with(form.after)) return std::nullopt;
  if (digits.size() > 4 || (digits.size() > 1 && digits.front() == '0')) {
    fail(place_of(tensor, name), fmt::format("the layer number {} is not from 0 to 9999 without leading zeros", in_quotes(digits)));
  }
  return LayerName{std::stoi(std::string(digits)), rest.substr(form.after.size())};
}

/// Finds the tensors of every layer under the names of one form; none when there is no expert tensor.
Layers find_layers(const CheckpointFiles& files, const NamingForm& form) {
  Layers layers;
  bool has_experts = false;
  for (const auto& [name, tensor] : files.tensors) {
    const std::optional<LayerName> split = split_name(form, name, tensor);
    if (!split) continue;
    const auto found = std::find(form.suffixes.begin(), form.suffixes.end(), split->suffix);
    const bool is_expert = split->suffix.starts_with(form.experts);
    if (found == form.suffixes.end()) {
      if (is_expert) fail(place_of(tensor, name), "is no MXFP4 expert tensor of the form " + std::string(form.title));
      continue;
    }
    if (!tensor.indexed) fail(place_of(tensor, name), "is in this shard, but the index does not list it");
    has_experts = has_experts || is_expert;
    const auto part = static_cast<std::size_t>(found - form.suffixes.begin());
    layers[split->layer].parts[part] = &tensor;
    layers[split->layer].names[part] = name;
  }
  return has_experts ? layers : Layers{};
}

std::string first_expert_name(const Layers& layers) {
  for (const auto& [index, layer] : layers) {
    for (std::size_t part = 0; part < kRouterWeight; ++part) {
      if (layer.parts[part] != nullptr) return place_of(*layer.parts[part], layer.names[part]);
    }
  }
  return {};
}

/// The one form that the checkpoint uses, with its layers.
std::pair<const NamingForm*, Layers> detect_form(const CheckpointFiles& files, const std::string& where) {
  std::pair<const NamingForm*, Layers> found{nullptr, {}};
  for (const NamingForm& form : kForms) {
    Layers layers = find_layers(files, form);
    if (layers.empty()) continue;
    if (found.first != nullptr) {
      fail(first_expert_name(layers), fmt::format("is named in the form {}, but other tensors are in the form {}", form.title, found.first->title));
    }
    found = {&form, std::move(layers)};
  }
  if (found.first == nullptr) {
    fail(where, fmt::format("holds no MXFP4 experts: no tensor is named like {} or {}", tensor_name(kForms[0], 0, 0), tensor_name(kForms[1], 0, 0)));
  }
  return found;
}

void check_layer_numbers(const Layers& layers, const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where) {
  int expected = files.whole ? 0 : layers.begin()->first;
  const int last = layers.rbegin()->first;
  for (const auto& [index, layer] : layers) {
    if (index != expected) fail(where, fmt::format("layer {} is missing: the weights hold layers up to {}", expected, last));
    ++expected;
  }
  if (files.whole && config.layers && config.layers->value != expected) {
    fail(config.path.string(),
         fmt::format("{} is {}, but the weights hold {} layers with experts", config.layers->key, config.layers->value, expected));
  }
}

/// What one layer has, every layer has; a group of tensors is whole.
void check_presence(const Layers& layers, const NamingForm& form, const std::string& where) {
  std::array<std::string_view, 3> witness{};
  for (const auto& [index, layer] : layers) {
    for (std::size_t part = 0; part < kParts; ++part) {
      if (layer.parts[part] != nullptr) witness[static_cast<std::size_t>(kPartRows[part].group)] = layer.names[part];
    }
  }
  for (const auto& [index, layer] : layers) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const Group group = kPartRows[part].group;
      const std::string_view seen = witness[static_cast<std::size_t>(group)];
      if (layer.parts[part] != nullptr || (group != Group::weights && seen.empty())) continue;
      fail(where, fmt::format("tensor '{}' is missing{}", tensor_name(form, index, part),
                              seen.empty() ? "" : fmt::format(", though there is {}", in_quotes(seen))));
    }
  }
}

/// A second conversion would move what has been moved.
void refuse_converted(const CheckpointFiles& files) {
  for (const SafetensorsFile& file : files.files) {
    if (is_converted(file)) fail(file.path().string(), "is converted already; `mxact restore` of its directory gives the checkpoint back");
  }
}

std::int64_t extent_of(Extent extent, const layout::Sizes& sizes) {
  switch (extent) {
    case Extent::experts: return sizes.experts;
    case Extent::twice_intermediate: return 2 * sizes.intermediate;
    case Extent::hidden: return sizes.hidden;
    case Extent::hidden_groups: return sizes.hidden / sizes.group;
    case Extent::intermediate_groups: return sizes.intermediate / sizes.group;
    case Extent::block_bytes: return sizes.group / 2;
  }
  return 0;
}

void check_part(const LayerTensors& layer, std::size_t part) {
  const PartRow& row = kPartRows[part];
  const TensorView& view = *layer.parts[part]->view;
  const std::string where = place_of(*layer.parts[part], layer.names[part]);
  if (view.dtype->name != row.dtype) fail(where, fmt::format("dtype is {}, expected {}", view.dtype->name, row.dtype));
  std::vector<std::int64_t> expected;
  for (std::size_t axis = 0; axis < row.rank; ++axis) expected.push_back(extent_of(row.extents[axis], layer.sizes));
  if (view.shape != expected) {
    fail(where, fmt::format("shape is {}, expected {} = {} with E={}, I={}, H={} as {} has", shape_text(view.shape), shape_text(expected),
                            row.formula, layer.sizes.experts, layer.sizes.intermediate, layer.sizes.hidden, in_quotes(layer.names[kW13Weight])));
  }
}

/// Sizes as the gate and up weights have them: blocks [E, 2I, H/32, 16].
layout::Sizes sizes_of(const LayerTensors& layer) {
  const TensorView& view = *layer.parts[kW13Weight]->view;
  const std::string where = place_of(*layer.parts[kW13Weight], layer.names[kW13Weight]);
  const std::vector<std::int64_t>& shape = view.shape;
  const bool positive = std::all_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent > 0; });
  if (shape.size() != 4 || !positive || shape[3] != 16) {
    fail(where, fmt::format("shape is {}, expected {} with positive sizes", shape_text(shape), kPartRows[kW13Weight].formula));
  }
  layout::Sizes sizes{.experts = shape[0], .intermediate = shape[1] / 2, .hidden = 0};
  if (shape[1] % 2 != 0 || sizes.intermediate % sizes.group != 0) {
    fail(where, fmt::format("shape is {}: 2I = {} is not a multiple of {}", shape_text(shape), shape[1], 2 * sizes.group));
  }
  sizes.hidden = shape[2] * sizes.group;  // fits: the tensor's bytes are in the file
  return sizes;
}

void check_sizes(Layers& layers) {
  const layout::Sizes first = sizes_of(layers.begin()->second);
  for (auto& [index, layer] : layers) {
    layer.sizes = sizes_of(layer);
    if (layer.sizes != first) {
      fail(place_of(*layer.parts[kW13Weight], layer.names[kW13Weight]),
           fmt::format("has E={}, I={}, H={}, but layer {} has E={}, I={}, H={}", layer.sizes.experts, layer.sizes.intermediate, layer.sizes.hidden,
                       layers.begin()->first, first.experts, first.intermediate, first.hidden));
    }
    for (std::size_t part = 0; part < kParts; ++part) {
      if (layer.parts[part] != nullptr) check_part(layer, part);
    }
  }
}

void check_config(const CheckpointConfig& config, const layout::Sizes& sizes) {
  const auto check = [&](const std::optional<ConfigSize>& size, std::int64_t actual) {
    if (size && size->value != actual) fail(config.path.string(), fmt::format("{} is {}, but the tensors have {}", size->key, size->value, actual));
  };
  check(config.experts, sizes.experts);
  check(config.hidden, sizes.hidden);
  check(config.intermediate, sizes.intermediate);
  if (config.top_k && config.top_k->value > sizes.experts) {
    fail(config.path.string(), fmt::format("{} is {}, but there are {} experts", config.top_k->key, config.top_k->value, sizes.experts));
  }
}

/// Little-endian units of a tensor as integers.
template <typename Unit>
std::vector<Unit> units_of(const TensorView& view) {
  const std::size_t bytes = static_cast<std::size_t>(view.dtype->bits) / 8;
  std::vector<Unit> units(view.bytes.size() / bytes);
  for (std::size_t i = 0; i < view.bytes.size(); ++i) {
    units[i / bytes] |= static_cast<Unit>(static_cast<Unit>(view.bytes[i]) << 8 * (i % bytes));
  }
  return units;
}

}  // namespace

struct Checkpoint::Impl {
  std::filesystem::path path;
  CheckpointFiles files;
  CheckpointConfig config;
  const NamingForm* form;
  Layers layers;

  const Layers::value_type& at(int layer) const {
    if (layer < 0 || layer >= static_cast<int>(layers.size())) {
      throw Error(ErrorCode::usage, fmt::format("layer {} does not exist, the checkpoint has {}", layer, layers.size()), path.string());
    }
    return *std::next(layers.begin(), layer);
  }
};

Checkpoint::Checkpoint(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(Impl{path, open_checkpoint_files(path), {}, nullptr, {}})) {
  Impl& impl = *impl_;
  const std::string where = path.string();
  refuse_converted(impl.files);
  impl.config = read_checkpoint_config(impl.files.directory);
  std::tie(impl.form, impl.layers) = detect_form(impl.files, where);
  check_presence(impl.layers, *impl.form, where);
  check_layer_numbers(impl.layers, impl.files, impl.config, where);
  check_sizes(impl.layers);
  check_config(impl.config, impl.layers.begin()->second.sizes);
}

Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;

const std::filesystem::path& Checkpoint::path() const { return impl_->path; }
std::string Checkpoint::form() const { return std::string(impl_->form->title); }
int Checkpoint::layer_count() const { return static_cast<int>(impl_->layers.size()); }
int Checkpoint::layer_index(int layer) const { return impl_->at(layer).first; }
layout::Sizes Checkpoint::sizes(int layer) const { return impl_->at(layer).second.sizes; }

bool Checkpoint::has_bias() const { return impl_->layers.begin()->second.parts[static_cast<std::size_t>(layout::Role::w13_bias)] != nullptr; }

int Checkpoint::top_k() const {
  constexpr std::int64_t kGptOssTopK = 4;
  return static_cast<int>(impl_->config.top_k ? impl_->config.top_k->value : std::min(kGptOssTopK, sizes(0).experts));
}

std::uint64_t Checkpoint::bytes() const {
  std::uint64_t total = 0;
  for (const auto& [index, layer] : impl_->layers) {
    for (std::size_t part = 0; part < kRouterWeight; ++part) {
      if (layer.parts[part] != nullptr) total += layer.parts[part]->view->bytes.size();
    }
  }
  return total;
}

std::vector<ExpertTensor> Checkpoint::expert_tensors(int layer) const {
  const LayerTensors& tensors = impl_->at(layer).second;
  std::vector<ExpertTensor> experts;
  for (const layout::Role role : layout::kRoles) {
    const auto part = static_cast<std::size_t>(role);
    if (tensors.parts[part] != nullptr) experts.push_back({role, tensors.names[part], *tensors.parts[part]});
  }
  return experts;
}

const CheckpointFiles& Checkpoint::contents() const { return impl_->files; }

std::vector<std::filesystem::path> Checkpoint::files() const {
  std::vector<std::filesystem::path> paths;
  for (const SafetensorsFile& file : impl_->files.files) paths.push_back(file.path());
  return paths;
}

MoeLayer Checkpoint::layer(int layer) const {
  const auto& [index, tensors] = impl_->at(layer);
  MoeLayer result{fmt::format("{}{}{}", impl_->form->before, index, impl_->form->after), index, {}, {}};
  result.experts.sizes = tensors.sizes;
  result.experts.form = layout::SourceOrder::gpt_oss;
  for (const layout::Role role : layout::kRoles) {
    const LocatedTensor* const tensor = tensors.parts[static_cast<std::size_t>(role)];
    if (tensor == nullptr) continue;
    result.experts[role].assign(tensor->view->bytes.begin(), tensor->view->bytes.end());
    tensor->file->release(*tensor->view);
  }
  if (tensors.parts[kRouterWeight] != nullptr) {
    result.router.weight = units_of<std::uint32_t>(*tensors.parts[kRouterWeight]->view);
    result.router.bias = units_of<std::uint32_t>(*tensors.parts[kRouterBias]->view);
  }
  return result;
}

std::optional<Expected> load_expected(const Checkpoint& checkpoint, int layer) {
  const std::filesystem::path& path = checkpoint.path();
  std::error_code error;
  const std::filesystem::path file = (std::filesystem::is_directory(path, error) ? path : path.parent_path()) / "expected.safetensors";
  if (!is_there(file)) return std::nullopt;
  const SafetensorsFile expected(file);
  const layout::Sizes sizes = checkpoint.sizes(layer);
  const int index = checkpoint.layer_index(layer);
  const auto find = [&](std::string_view what, std::string_view dtype) -> const TensorView& {
    const std::string name = fmt::format("layers.{}.mlp.{}", index, what);
    const TensorView* const view = expected.find(name);
    if (view == nullptr) fail(file.string(), fmt::format("tensor '{}' is missing", name));
    const std::string where = fmt::format("{}: tensor '{}'", file.string(), name);
    if (view->dtype->name != dtype) fail(where, fmt::format("dtype is {}, expected {}", view->dtype->name, dtype));
    if (view->shape.size() != 2 || view->shape[0] < 1 || view->shape[1] != sizes.hidden) {
      fail(where, fmt::format("shape is {}, expected [tokens, {}]", shape_text(view->shape), sizes.hidden));
    }
    return *view;
  };
  const TensorView& x = find("x", "BF16");
  const TensorView& out = find("out.f64", "F64");
  if (x.shape != out.shape) {
    fail(fmt::format("{}: tensor 'layers.{}.mlp.out.f64'", file.string(), index),
         fmt::format("shape is {}, but that of x is {}", shape_text(out.shape), shape_text(x.shape)));
  }
  return Expected{units_of<std::uint32_t>(x), units_of<std::uint64_t>(out), x.shape[0]};
}

}  // namespace mx::sim
