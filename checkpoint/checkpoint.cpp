#include "checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/expert_tensors.hpp"
#include "checkpoint/inspect/inspect_layer.hpp"
#include "checkpoint/layout_tags.hpp"
#include "kernels/zeros.hpp"
#include "model/error.hpp"
#include "support/quote.hpp"
#include "support/tensor_reads.hpp"

namespace mx::checkpoint {
namespace {

using layout::Role;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// The roles of a piece: of w13, of w2.
struct PieceRoles {
  Piece piece;
  Role w13;
  Role w2;
};
constexpr std::array<PieceRoles, 4> kPieceRoles{{
    {Piece::weight, Role::w13_weight, Role::w2_weight},
    {Piece::scale, Role::w13_weight_scale, Role::w2_weight_scale},
    {Piece::global_scale, Role::w13_global_scale, Role::w2_global_scale},
    {Piece::bias, Role::w13_bias, Role::w2_bias},
}};

Role role_of(const FoundTensor& tensor) {
  const PieceRoles& roles = *std::ranges::find(kPieceRoles, tensor.row->piece, &PieceRoles::piece);
  return tensor.projection->w13 ? roles.w13 : roles.w2;
}

/// Little-endian units of a tensor as integers.
template <typename Unit>
std::vector<Unit> units_of(const LocatedTensor& tensor) {
  const std::vector<std::uint8_t> bytes = tensor.file->read(*tensor.view);
  const std::size_t size = static_cast<std::size_t>(tensor.view->dtype->bits) / 8;
  std::vector<Unit> units(bytes.size() / size);
  for (std::size_t i = 0; i < bytes.size(); ++i) units[i / size] |= static_cast<Unit>(static_cast<Unit>(bytes[i]) << 8 * (i % size));
  return units;
}

/// The factor that a number in the file stands for, as fp32 bits. Source: vllm compressed_tensors_moe_w4a4_nvfp4.py, 1.0 / weight_global_scale.
std::uint32_t factor_of(Meaning meaning, std::uint32_t bits) {
  return meaning == Meaning::as_it_is ? bits : std::bit_cast<std::uint32_t>(1.0F / std::bit_cast<float>(bits));
}

/// Reads what is one number of an expert, for gate and up together.
class NumberReader {
 public:
  NumberReader(MoeLayer& layer, const layout::Form& form) : layer_(layer), form_(form) {}

  void read(const FoundTensor& found, const ExpertTensor& tensor) {
    const std::vector<std::uint32_t> numbers = f32_numbers(*tensor.at.file, *tensor.at.view);
    std::vector<std::uint8_t>& role = layer_.experts[tensor.role];
    if (tensor.half == 1 && form_.gated) {
      take_up(tensor, numbers.front());
      return;
    }
    gate_ = numbers.front();
    // One for all experts counts for each of them.
    const std::size_t count = tensor.expert >= 0 ? 1 : role.size() / 4;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t factor = factor_of(found.row->meaning, numbers[std::min(i, numbers.size() - 1)]);
      put(role, tensor.offset + 4 * i, factor);
      if (tensor.half < 0 && is_quantized_again(tensor.role)) quantize_again(static_cast<int>(i), factor, factor);
    }
  }

 private:
  static void put(std::vector<std::uint8_t>& role, std::uint64_t at, std::uint32_t factor) {
    for (int byte = 0; byte < 4; ++byte) role[at + static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(factor >> 8 * byte);
  }

  bool is_quantized_again(Role role) const {
    return form_.format == layout::WeightFormat::fp8_tensor && form_.gated && role == Role::w13_weight_scale;
  }

  /// Gate's global scale counts for both; FP8 codes are made anew with the larger scale.
  void take_up(const ExpertTensor& tensor, std::uint32_t up) {
    if (is_quantized_again(tensor.role)) {
      put(layer_.experts[tensor.role], tensor.offset, quantize_again(tensor.expert, gate_, up));
    } else if (up != gate_) {
      ++layer_.up_scales_dropped;
    }
  }

  std::uint32_t quantize_again(int expert, std::uint32_t gate, std::uint32_t up) {
    const std::uint32_t larger = std::bit_cast<float>(up) > std::bit_cast<float>(gate) ? up : gate;
    layer_.requantized.push_back({expert, 0, gate, larger});
    layer_.requantized.push_back({expert, 1, up, larger});
    return larger;
  }

  MoeLayer& layer_;
  const layout::Form& form_;
  std::uint32_t gate_ = 0;
};

}  // namespace

Requantizer requantizer_of(const MoeLayer& layer, Fp8Codes as) {
  const layout::Sizes& sizes = layer.experts.sizes;
  return {layer.requantized, static_cast<std::uint64_t>(sizes.intermediate * sizes.hidden), as};
}

/// What was read of the weights, whichever layer group is asked for.
struct Checkpoint::Contents {
  std::filesystem::path path;
  CheckpointFiles files;
  CheckpointConfig config = {};
  std::vector<FoundGroup> all = {};  ///< they point into the files
  std::vector<LayerGroup> layer_groups = {};
};

struct Checkpoint::Impl {
  std::shared_ptr<const Contents> contents;
  int layer_group;

  Impl(std::shared_ptr<const Contents> opened, int number) : contents(std::move(opened)), layer_group(number) {
    if (layer_group >= 0 && layer_group < static_cast<int>(contents->all.size())) return;
    throw Error(ErrorCode::usage,
                fmt::format("there is no layer group {}: the checkpoint has {}", std::int64_t{layer_group} + 1, contents->all.size()),
                contents->path.string());
  }

  const FoundGroup& found() const { return contents->all[static_cast<std::size_t>(layer_group)]; }
  layout::Form form() const { return found().layout(); }

  const std::map<int, FoundLayer>::value_type& at(int layer) const {
    if (layer < 0 || layer >= static_cast<int>(found().layers.size())) {
      throw Error(ErrorCode::usage, fmt::format("layer {} does not exist, the checkpoint has {}", layer, found().layers.size()),
                  contents->path.string());
    }
    return *std::next(found().layers.begin(), layer);
  }

  /// Bytes of a role's canonical memory.
  std::uint64_t role_bytes(Role role, const layout::Sizes& sizes) const {
    return static_cast<std::uint64_t>(layout::canonical(role, sizes, form()).bytes());
  }
};

std::string LayerGroup::text() const {
  std::string words =
      fmt::format("{} expert{} in {} layer{} ({}): {}", experts, experts == 1 ? "" : "s", layers.size(), layers.size() == 1 ? "" : "s", place, form);
  if (further) words += ", for further tokens";
  if (!left.empty()) words += fmt::format(", named in {}", left);
  return garbage.empty() ? words : fmt::format("{}; its first tensor {}", words, garbage);
}

namespace {

LayerGroup layer_group_of(const FoundGroup& found) {
  LayerGroup group{std::string(found.form->title),
                   found.place,
                   {},
                   found.layers.begin()->second.sizes.experts,
                   0,
                   found.form->converts(),
                   found.further,
                   found.left,
                   found.disagreement.text,
                   std::string(found.form->use.missing)};
  for (const auto& [index, layer] : found.layers) {
    group.layers.push_back(index);
    for (const FoundTensor& tensor : layer.experts) group.bytes += tensor.at->view->bytes.size();
  }
  return group;
}

}  // namespace

Checkpoint::Checkpoint(const std::filesystem::path& path, int layer_group, deployment::Engine engine, Garbage garbage) {
  const auto contents = std::make_shared<Contents>(Contents{path, open_checkpoint_files(path)});
  refuse_converted(contents->files);
  contents->config = read_checkpoint_config(contents->files.directory, engine);
  contents->all = find_layer_groups(contents->files, contents->config, path.string());
  require_agreement(contents->all, garbage == Garbage::asked ? std::optional(layer_group) : std::nullopt);
  for (const FoundGroup& found : contents->all) contents->layer_groups.push_back(layer_group_of(found));
  impl_ = std::make_unique<Impl>(contents, layer_group);
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Checkpoint Checkpoint::of_group(int layer_group) const { return Checkpoint(std::make_unique<Impl>(impl_->contents, layer_group)); }

Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;

const std::filesystem::path& Checkpoint::path() const { return impl_->contents->path; }
std::string Checkpoint::form() const { return std::string(impl_->found().form->title); }
const SourceForm& Checkpoint::source_form() const { return *impl_->found().form; }
int Checkpoint::layer_count() const { return static_cast<int>(impl_->found().layers.size()); }
int Checkpoint::layer_index(int layer) const { return impl_->at(layer).first; }
std::string Checkpoint::layer_prefix(int layer) const { return impl_->at(layer).second.prefix; }
layout::Sizes Checkpoint::sizes(int layer) const { return impl_->at(layer).second.sizes; }
bool Checkpoint::has_bias() const { return impl_->found().has(Piece::bias); }

layout::Form Checkpoint::layout_form() const { return impl_->form(); }
const std::vector<LayerGroup>& Checkpoint::layer_groups() const { return impl_->contents->layer_groups; }
int Checkpoint::layer_group() const { return impl_->layer_group; }

void Checkpoint::require_convertible() const {
  if (impl_->found().form->converts()) return;
  std::string text;
  for (const LayerGroup& group : impl_->contents->layer_groups)
    text += fmt::format("{}{}, for which mxact lacks {}", text.empty() ? "" : "; ", group.text(), group.missing);
  throw Error(ErrorCode::unsupported, text, path().string());
}

LayerActivation Checkpoint::activation(int layer) const {
  const FoundGroup& found = impl_->found();
  const bool alternates = found.form->form.order == layout::SourceOrder::gpt_oss;
  return activation_of(impl_->contents->config, layer_index(layer), found.gated, alternates, found.form->use.activation);
}

std::string_view Checkpoint::converted_activation() const {
  const FoundGroup& found = impl_->found();
  const bool alternates = found.form->form.order == layout::SourceOrder::gpt_oss;
  return checkpoint::converted_activation(impl_->contents->config, layer_index(0), found.gated, alternates, found.form->use.activation);
}

std::optional<RouterFacts> Checkpoint::router() const {
  const FoundLayer& layer = impl_->at(0).second;
  if (impl_->form().order == layout::SourceOrder::gpt_oss) return std::nullopt;
  if (const auto router = read_router(impl_->contents->files, impl_->contents->config, layer.prefix, layer.sizes.experts, layer.sizes.hidden))
    return router->facts;
  if (!names_router(impl_->contents->config)) return std::nullopt;
  return router_facts(impl_->contents->config, declares_correction(impl_->contents->config), layer.sizes.experts);
}

int Checkpoint::top_k() const {
  constexpr std::int64_t kGptOssTopK = 4;
  return static_cast<int>(impl_->contents->config.top_k ? impl_->contents->config.top_k->value : std::min(kGptOssTopK, sizes(0).experts));
}

std::uint64_t Checkpoint::bytes() const {
  std::uint64_t total = 0;
  for (const auto& [index, layer] : impl_->found().layers) {
    for (const FoundTensor& tensor : layer.experts) total += tensor.at->view->bytes.size();
  }
  return total;
}

std::vector<ExpertTensor> Checkpoint::expert_tensors(int layer) const {
  const FoundLayer& found = impl_->at(layer).second;
  const bool numbered = impl_->found().naming->numbered;
  std::array<std::uint64_t, layout::kRoleCount> bytes{};
  std::vector<ExpertTensor> experts;
  for (const FoundTensor& tensor : found.experts) {
    const Role role = role_of(tensor);
    std::uint64_t& of_role = bytes[static_cast<std::size_t>(role)];
    if (of_role == 0) of_role = impl_->role_bytes(role, found.sizes);
    const bool is_number = tensor.row->shapes.empty();
    const bool is_half = tensor.projection->w13 && tensor.projection->halves == 1 && impl_->form().gated;
    const int half = is_half ? tensor.projection->half : -1;
    const MemoryPart part = part_of(numbered ? tensor.expert : -1, is_number ? -1 : half, found.sizes.experts);
    const support::TensorView& view = *tensor.at->view;
    const bool turned = impl_->found().form->input_major && view.shape.size() == 3;
    experts.push_back({role, numbered ? tensor.expert : -1, half, tensor.name, *tensor.at, of_role / part.count * part.index,
                       SourceMemory({std::string(tensor.name), std::string(view.dtype->name), view.shape}, role, found.sizes, impl_->form(), turned),
                       turned, is_number});
  }
  return experts;
}

std::vector<ScannedFault> Checkpoint::scan(int layer) const {
  const Producer producer = producer_of(impl_->contents->config.quantization);
  return inspect_layer(impl_->contents->files, impl_->found(), impl_->at(layer).second,
                       {.depth = Depth::weights, .producer = &producer, .is_first = layer == 0})
      .faults;
}

const CheckpointFiles& Checkpoint::contents() const { return impl_->contents->files; }

void Checkpoint::check_unchanged() const {
  for (const support::SafetensorsFile& file : impl_->contents->files.files) file.check_unchanged();
}

std::vector<std::filesystem::path> Checkpoint::files() const {
  std::vector<std::filesystem::path> paths;
  for (const support::SafetensorsFile& file : impl_->contents->files.files) paths.push_back(file.path());
  return paths;
}

MoeLayer Checkpoint::numbers(int layer) const {
  const auto& [index, found] = impl_->at(layer);
  const layout::Form form = impl_->form();
  MoeLayer result{found.prefix, index, {found.sizes, form, {}}, {}};
  NumberReader numbers(result, form);
  const std::vector<ExpertTensor> tensors = expert_tensors(layer);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ExpertTensor& tensor = tensors[i];
    if (!tensor.stays) continue;
    std::vector<std::uint8_t>& role = result.experts[tensor.role];
    if (role.empty()) role.resize(static_cast<std::size_t>(impl_->role_bytes(tensor.role, found.sizes)));
    numbers.read(found.experts[i], tensor);
  }
  return result;
}

std::optional<InputScales> Checkpoint::input_scales(int layer) const {
  const FoundLayer& found = impl_->at(layer).second;
  const bool is_static = std::ranges::any_of(found.aside, [](const FoundTensor& tensor) { return tensor.row->companion == Companion::needed; });
  if (!is_static || impl_->form().format != layout::WeightFormat::fp8_tensor) return std::nullopt;
  InputScales joined{};
  for (const FoundTensor& tensor : found.aside) {
    std::uint32_t& of = tensor.projection->w13 ? joined.w13 : joined.w2;
    for (const std::uint32_t bits : f32_numbers(*tensor.at->file, *tensor.at->view)) {
      // A NaN stays.
      if (!(std::bit_cast<float>(bits) <= std::bit_cast<float>(of))) of = bits;
    }
  }
  return joined;
}

MoeLayer Checkpoint::layer(int layer, const support::StopPoint& stop, Fp8Codes as) const {
  MoeLayer result = numbers(layer);
  const FoundLayer& found = impl_->at(layer).second;
  const std::vector<ExpertTensor> tensors = expert_tensors(layer);
  std::vector<support::TensorRead> reads;
  for (const ExpertTensor& tensor : tensors) {
    if (tensor.stays) continue;
    std::vector<std::uint8_t>& role = result.experts[tensor.role];
    if (role.empty()) role = kernels::zeros(static_cast<std::size_t>(impl_->role_bytes(tensor.role, found.sizes)));
    const std::span<std::uint8_t> part = std::span(role).subspan(tensor.offset, tensor.memory.size());
    if (tensor.memory.is_plain()) {
      reads.push_back({{tensor.at.file, tensor.at.view}, part});
    } else {
      stop.check();
      tensor.memory.read(*tensor.at.file, *tensor.at.view, 0, part);
    }
  }
  support::read_tensors(reads, stop);
  requantizer_of(result, as).apply(0, result.experts[Role::w13_weight]);
  if (found.router_weight != nullptr) {
    result.router.weight = units_of<std::uint32_t>(*found.router_weight);
    result.router.bias = units_of<std::uint32_t>(*found.router_bias);
  } else if (impl_->form().order == layout::SourceOrder::standard) {
    result.own_router = read_router(impl_->contents->files, impl_->contents->config, found.prefix, found.sizes.experts, found.sizes.hidden);
  }
  return result;
}

std::optional<Expected> load_expected(const Checkpoint& checkpoint, int layer) {
  const std::filesystem::path& path = checkpoint.path();
  std::error_code error;
  const std::filesystem::path file = (std::filesystem::is_directory(path, error) ? path : path.parent_path()) / "expected.safetensors";
  if (!support::is_there(file)) return std::nullopt;
  const support::SafetensorsFile expected(file);
  const layout::Sizes sizes = checkpoint.sizes(layer);
  const int index = checkpoint.layer_index(layer);
  const auto find = [&](std::string_view what, std::string_view dtype) -> const support::TensorView& {
    const std::string name = fmt::format("layers.{}.mlp.{}", index, what);
    const support::TensorView* const view = expected.find(name);
    if (view == nullptr) fail(file.string(), fmt::format("tensor '{}' is missing", name));
    const std::string where = fmt::format("{}: tensor '{}'", file.string(), name);
    if (view->dtype->name != dtype) fail(where, fmt::format("dtype is {}, expected {}", view->dtype->name, dtype));
    if (view->shape.size() != 2 || view->shape[0] < 1 || view->shape[1] != sizes.hidden) {
      fail(where, fmt::format("shape is {}, expected [tokens, {}]", support::shape_text(view->shape), sizes.hidden));
    }
    return *view;
  };
  const support::TensorView& x = find("x", "BF16");
  const support::TensorView& out = find("out.f64", "F64");
  if (x.shape != out.shape) {
    fail(fmt::format("{}: tensor 'layers.{}.mlp.out.f64'", file.string(), index),
         fmt::format("shape is {}, but that of x is {}", support::shape_text(out.shape), support::shape_text(x.shape)));
  }
  return Expected{units_of<std::uint32_t>({&expected, &x, true}), units_of<std::uint64_t>({&expected, &out, true}), x.shape[0]};
}

}  // namespace mx::checkpoint
