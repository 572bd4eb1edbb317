#include "sim/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/zeros.hpp"
#include "model/error.hpp"
#include "sim/checkpoint/checkpoint_files.hpp"
#include "sim/checkpoint/expert_tensors.hpp"
#include "sim/checkpoint/layout_tags.hpp"
#include "support/quote.hpp"
#include "support/tensor_reads.hpp"

namespace mx::sim {
namespace {

using layout::Role;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// A second conversion would move what has been moved.
void refuse_converted(const CheckpointFiles& files) {
  for (const SafetensorsFile& file : files.files) {
    if (is_converted(file)) fail(file.path().string(), "is converted already; `mxact restore` of its directory gives the checkpoint back");
  }
}

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
  NumberReader(MoeLayer& layer, const SourceForm& form) : layer_(layer), form_(form) {}

  void read(const FoundTensor& found, const ExpertTensor& tensor) {
    const std::uint32_t bits = units_of<std::uint32_t>(tensor.at).front();
    std::vector<std::uint8_t>& role = layer_.experts[tensor.role];
    if (tensor.half == 1) {
      if (bits != gate_) differ(tensor);
      return;
    }
    gate_ = bits;
    const std::uint32_t factor = factor_of(found.row->meaning, bits);
    for (int byte = 0; byte < 4; ++byte) role[tensor.offset + static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(factor >> 8 * byte);
  }

 private:
  void differ(const ExpertTensor& tensor) {
    if (form_.form.format == layout::WeightFormat::nvfp4) {
      ++layer_.up_scales_dropped;
      return;
    }
    throw Error(ErrorCode::unsupported, "differs from the scale of gate: the engine quantizes both again with the larger, which is not modelled",
                fmt::format("{}: tensor {}", tensor.at.file->path().string(), in_quotes(tensor.name)));
  }

  MoeLayer& layer_;
  const SourceForm& form_;
  std::uint32_t gate_ = 0;
};

}  // namespace

struct Checkpoint::Impl {
  std::filesystem::path path;
  CheckpointFiles files;
  CheckpointConfig config;
  FoundExperts found;

  const std::map<int, FoundLayer>::value_type& at(int layer) const {
    if (layer < 0 || layer >= static_cast<int>(found.layers.size())) {
      throw Error(ErrorCode::usage, fmt::format("layer {} does not exist, the checkpoint has {}", layer, found.layers.size()), path.string());
    }
    return *std::next(found.layers.begin(), layer);
  }

  /// Bytes of a role's canonical memory.
  std::uint64_t role_bytes(Role role, const layout::Sizes& sizes) const {
    return static_cast<std::uint64_t>(layout::canonical(role, sizes, found.form->form).bytes());
  }
};

Checkpoint::Checkpoint(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(Impl{path, open_checkpoint_files(path), {}, {}})) {
  Impl& impl = *impl_;
  refuse_converted(impl.files);
  impl.config = read_checkpoint_config(impl.files.directory);
  impl.found = find_experts(impl.files, impl.config, path.string());
}

Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;

const std::filesystem::path& Checkpoint::path() const { return impl_->path; }
std::string Checkpoint::form() const { return std::string(impl_->found.form->title); }
const SourceForm& Checkpoint::source_form() const { return *impl_->found.form; }
int Checkpoint::layer_count() const { return static_cast<int>(impl_->found.layers.size()); }
int Checkpoint::layer_index(int layer) const { return impl_->at(layer).first; }
std::string Checkpoint::layer_prefix(int layer) const { return impl_->at(layer).second.prefix; }
layout::Sizes Checkpoint::sizes(int layer) const { return impl_->at(layer).second.sizes; }
bool Checkpoint::has_bias() const { return impl_->found.has(Piece::bias); }

int Checkpoint::top_k() const {
  constexpr std::int64_t kGptOssTopK = 4;
  return static_cast<int>(impl_->config.top_k ? impl_->config.top_k->value : std::min(kGptOssTopK, sizes(0).experts));
}

std::uint64_t Checkpoint::bytes() const {
  std::uint64_t total = 0;
  for (const auto& [index, layer] : impl_->found.layers) {
    for (const FoundTensor& tensor : layer.experts) total += tensor.at->view->bytes.size();
  }
  return total;
}

std::vector<ExpertTensor> Checkpoint::expert_tensors(int layer) const {
  const FoundLayer& found = impl_->at(layer).second;
  const bool numbered = impl_->found.naming->numbered;
  std::array<std::uint64_t, layout::kRoleCount> bytes{};
  std::vector<ExpertTensor> experts;
  for (const FoundTensor& tensor : found.experts) {
    const Role role = role_of(tensor);
    std::uint64_t& of_role = bytes[static_cast<std::size_t>(role)];
    if (of_role == 0) of_role = impl_->role_bytes(role, found.sizes);
    const bool is_number = tensor.row->extents.empty();
    const bool is_half = tensor.projection->w13 && tensor.projection->halves == 1;
    const int half = is_half ? tensor.projection->half : -1;
    const MemoryPart part = part_of(numbered ? tensor.expert : -1, is_number ? -1 : half, found.sizes.experts);
    experts.push_back({role, numbered ? tensor.expert : -1, half, tensor.name, *tensor.at, of_role / part.count * part.index, is_number});
  }
  return experts;
}

std::vector<ScannedFault> Checkpoint::scan(int layer) const { return scan_layer(*impl_->found.form, *impl_->found.naming, impl_->at(layer).second); }

const CheckpointFiles& Checkpoint::contents() const { return impl_->files; }

void Checkpoint::check_unchanged() const {
  for (const SafetensorsFile& file : impl_->files.files) file.check_unchanged();
}

std::vector<std::filesystem::path> Checkpoint::files() const {
  std::vector<std::filesystem::path> paths;
  for (const SafetensorsFile& file : impl_->files.files) paths.push_back(file.path());
  return paths;
}

MoeLayer Checkpoint::numbers(int layer) const {
  const auto& [index, found] = impl_->at(layer);
  MoeLayer result{found.prefix, index, {found.sizes, impl_->found.form->form, {}}, {}};
  NumberReader numbers(result, *impl_->found.form);
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

MoeLayer Checkpoint::layer(int layer, const StopPoint& stop) const {
  MoeLayer result = numbers(layer);
  const FoundLayer& found = impl_->at(layer).second;
  const std::vector<ExpertTensor> tensors = expert_tensors(layer);
  std::vector<TensorRead> reads;
  for (const ExpertTensor& tensor : tensors) {
    if (tensor.stays) continue;
    std::vector<std::uint8_t>& role = result.experts[tensor.role];
    if (role.empty()) role = kernels::zeros(static_cast<std::size_t>(impl_->role_bytes(tensor.role, found.sizes)));
    reads.push_back({{tensor.at.file, tensor.at.view}, std::span(role).subspan(tensor.offset, tensor.at.view->bytes.size())});
  }
  read_tensors(reads, stop);
  if (found.router_weight != nullptr) {
    result.router.weight = units_of<std::uint32_t>(*found.router_weight);
    result.router.bias = units_of<std::uint32_t>(*found.router_bias);
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
  return Expected{units_of<std::uint32_t>({&expected, &x, true}), units_of<std::uint64_t>({&expected, &out, true}), x.shape[0]};
}

}  // namespace mx::sim
