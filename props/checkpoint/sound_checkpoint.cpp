#include "props/checkpoint/sound_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "props/checkpoint/sound_numbers.hpp"
#include "support/file.hpp"

namespace mx::props {
namespace {

using Bytes = SoundBytes;
using Random = std::mt19937_64;

constexpr std::string_view kCtMx4 =
    R"("quantization_config": {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "version": "0.16.0", "config_groups": {"group_0": {"targets": ["Linear"],
    "weights": {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": true}, "input_activations": null}}})";
constexpr std::string_view kCtNv4 =
    R"("quantization_config": {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "version": "0.16.0", "config_groups": {"group_0": {"targets": ["Linear"],
    "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": true},
    "input_activations": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "dynamic": "local"}}}})";
constexpr std::string_view kCtChannel =
    R"("quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized", "version": "0.16.0", "config_groups": {"group_0": {"targets": ["Linear"],
    "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": true}, "input_activations": {"num_bits": 8, "type": "float", "strategy": "token", "dynamic": true}}}})";
constexpr std::string_view kCtInt4 =
    R"("quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized", "version": "0.16.0", "config_groups": {"group_0": {"targets": ["Linear"],
    "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": true}}}})";
constexpr std::string_view kModelOptNv4 =
    R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "producer": {"name": "modelopt", "version": "0.47.0"}})";
constexpr std::string_view kModelOptFp8 = R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"})";
constexpr std::string_view kModelOptMx8 = R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "MXFP8"})";
constexpr std::string_view kFp8Block =
    R"("model_type": "qwen3_moe", "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]})";
constexpr std::string_view kLlama4Nv4 = R"("model_type": "llama4", "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"})";
constexpr std::string_view kQuark =
    R"("quantization_config": {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}}})";
constexpr std::string_view kGptOss = R"("model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"})";
constexpr std::string_view kQwen = R"("model_type": "qwen3_moe")";

using K = SoundKind;
using L = SoundLie;
// clang-format off
constexpr std::array kForms{
    SoundForm{"gpt-oss", K::mxfp4, L::alternating, "_blocks", "U8", "_scales", "U8", "", "", false, kGptOss},
    SoundForm{"ct-mxfp4", K::mxfp4, L::each, ".weight_packed", "U8", ".weight_scale", "U8", "", "", false, kCtMx4},
    SoundForm{"ct-mxfp4-halves", K::mxfp4, L::halves, ".weight_packed", "U8", ".weight_scale", "U8", "", "", false, kCtMx4},
    SoundForm{"quark-mxfp4", K::mxfp4, L::each, ".weight", "U8", ".weight_scale", "F8_E8M0", "", "", false, kQuark},
    SoundForm{"modelopt-mxfp8", K::mxfp8, L::each, ".weight", "F8_E4M3", ".weight_scale", "U8", "", "", false, kModelOptMx8},
    SoundForm{"modelopt-nvfp4", K::nvfp4, L::each, ".weight", "U8", ".weight_scale", "F8_E4M3", ".weight_scale_2", ".input_scale", false, kModelOptNv4},
    SoundForm{"ct-nvfp4", K::nvfp4, L::each, ".weight_packed", "U8", ".weight_scale", "F8_E4M3", ".weight_global_scale", ".input_global_scale", true, kCtNv4},
    SoundForm{"llama4-nvfp4", K::nvfp4, L::input_major, "", "U8", "_weight_scale", "F8_E4M3", "_weight_scale_2", "_input_scale", false, kLlama4Nv4},
    SoundForm{"fp8-block", K::fp8_block, L::each, ".weight", "F8_E4M3", ".weight_scale_inv", "F32", "", "", false, kFp8Block},
    SoundForm{"fp8-block-bf16", K::fp8_block, L::each, ".weight", "F8_E4M3", ".weight_scale_inv", "BF16", "", "", false, kFp8Block},
    SoundForm{"fp8-block-e8m0", K::fp8_block, L::each, ".weight", "F8_E4M3", ".weight_scale_inv", "F8_E8M0", "", "", false, kFp8Block},
    SoundForm{"fp8-block-fused", K::fp8_block, L::stacked, "", "F8_E4M3", "_scale_inv", "F32", "", "", false, kFp8Block},
    SoundForm{"ct-fp8-channel", K::fp8_channel, L::each, ".weight", "F8_E4M3", ".weight_scale", "BF16", "", "", false, kCtChannel},
    SoundForm{"modelopt-fp8", K::fp8_tensor, L::each, ".weight", "F8_E4M3", ".weight_scale", "F32", "", ".input_scale", false, kModelOptFp8},
    SoundForm{"ct-int4", K::int4, L::each, ".weight_packed", "I32", ".weight_scale", "BF16", "", "", false, kCtInt4},
    SoundForm{"bf16", K::plain, L::each, ".weight", "BF16", "", "", "", "", false, kQwen},
};
// clang-format on

double drawn(Random& random) { return std::uniform_real_distribution<double>(0, 1)(random); }
bool happens(Random& random, double share) { return drawn(random) < share; }

SoundMatrix draw_matrix(Random& random, std::int64_t rows, std::int64_t columns, int distribution, double size) {
  SoundMatrix matrix{rows, columns, {}};
  std::normal_distribution<double> normal(0, 1);
  std::vector<double> of_column(static_cast<std::size_t>(columns), 1);
  if (distribution == 2) {
    for (double& factor : of_column) factor = happens(random, 0.02) ? 20 : 1;
  }
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    double number = normal(random);
    if (distribution == 1) number = 2 * drawn(random) - 1;
    if (distribution == 3) number /= std::sqrt(0.05 + drawn(random));
    matrix.numbers.push_back(number * size * of_column[static_cast<std::size_t>(i % columns)]);
  }
  return matrix;
}

Bytes packed(const Bytes& codes) {
  Bytes bytes(codes.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(codes[2 * i] | codes[2 * i + 1] << 4);
  return bytes;
}

/// [rows, columns] of units as [columns, rows].
Bytes turned(const Bytes& bytes, std::size_t rows) {
  Bytes made(bytes.size());
  const std::size_t columns = bytes.size() / rows;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) made[c * rows + r] = bytes[r * columns + c];
  }
  return made;
}

/// Rows of two matrices in turn.
Bytes alternating(const Bytes& a, const Bytes& b, std::size_t rows) {
  Bytes made;
  const std::size_t row = a.size() / rows;
  for (std::size_t r = 0; r < rows; ++r) {
    made.insert(made.end(), a.begin() + static_cast<std::ptrdiff_t>(r * row), a.begin() + static_cast<std::ptrdiff_t>((r + 1) * row));
    made.insert(made.end(), b.begin() + static_cast<std::ptrdiff_t>(r * row), b.begin() + static_cast<std::ptrdiff_t>((r + 1) * row));
  }
  return made;
}

class Maker {
 public:
  Maker(const SoundForm& form, std::uint64_t seed) : form_(form), random_(seed) {
    const auto pick = [&](std::initializer_list<std::int64_t> sizes) {
      return *(sizes.begin() + static_cast<std::ptrdiff_t>(random_() % sizes.size()));
    };
    const bool squares = form.kind == K::fp8_block;
    made_ = {
        &form, {}, {}, pick({2, 3, 4}), squares ? pick({128, 256}) : pick({64, 128, 192}), squares ? pick({128, 256, 384}) : pick({64, 128, 256})};
    rules_ = {static_cast<int>(random_() % 3), happens(random_, 0.15) ? 240.0 : 448.0, happens(random_, 0.4),
              *(std::array{0.0, 1.0, 448.0, 0x1p-9, 0x1p-3}.begin() + static_cast<std::ptrdiff_t>(random_() % 5))};
    distribution_ = static_cast<int>(random_() % 4);
    size_ = std::array{0.02, 0.3, 1e-4}[random_() % 3];
    dead_ = happens(random_, 0.15) ? static_cast<int>(random_() % static_cast<std::uint64_t>(made_.experts)) : -1;
    tiny_ = happens(random_, 0.2) ? static_cast<int>(random_() % static_cast<std::uint64_t>(made_.experts)) : -1;
    zero_blocks_ = happens(random_, 0.3);
  }

  SoundCheckpoint run() {
    for (int expert = 0; expert < made_.experts; ++expert) draw_expert(expert);
    if (form_.lie == L::each || form_.lie == L::halves) {
      for (int expert = 0; expert < made_.experts; ++expert) add_expert(expert);
    } else {
      add_stacked();
    }
    add_router();
    made_.config = "{" + std::string(form_.config) + R"(, "hidden_size": )" + std::to_string(made_.hidden) + R"(, "moe_intermediate_size": )" +
                   std::to_string(made_.intermediate) + R"(, "num_experts": )" + std::to_string(made_.experts) +
                   R"(, "num_experts_per_tok": 2, "num_hidden_layers": 1})";
    if (form_.lie == L::alternating) {
      const std::size_t at = made_.config.find("\"moe_intermediate_size\"");
      made_.config.replace(at, 23, "\"intermediate_size\"");
    }
    return std::move(made_);
  }

 private:
  void draw_expert(int expert) {
    const double size = size_ * (expert == tiny_ ? 1e-5 : 1);
    std::array<SoundMatrix, 3> matrices;
    double shared = 0;
    for (int p = 0; p < 3; ++p) {
      const std::int64_t rows = p == 2 ? made_.hidden : made_.intermediate, columns = p == 2 ? made_.intermediate : made_.hidden;
      SoundMatrix& matrix = matrices[static_cast<std::size_t>(p)];
      matrix = draw_matrix(random_, rows, columns, distribution_, size);
      if (expert == dead_) std::ranges::fill(matrix.numbers, 0.0);
      if (zero_blocks_) {
        for (int n = 0; n < 5; ++n) {
          const std::size_t block = random_() % (matrix.numbers.size() / 32);
          std::fill_n(matrix.numbers.begin() + static_cast<std::ptrdiff_t>(block * 32), 32, 0.0);
        }
      }
      if (p < 2) shared = std::max(shared, amax_of(matrix));
    }
    for (int p = 0; p < 3; ++p) coded_.push_back(coded(matrices[static_cast<std::size_t>(p)], form_, rules_, p < 2 ? shared : amax_of(matrices[2])));
    for (int p = 0; p < 3; ++p) plain_.push_back(std::move(matrices[static_cast<std::size_t>(p)]));
  }
  const Coded& at(int expert, int p) const { return coded_[static_cast<std::size_t>(3 * expert + p)]; }

  Bytes codes_of(int expert, int p) const {
    const Coded& one = at(expert, p);
    if (form_.kind == K::plain) {
      Bytes bytes;
      for (const double number : plain_[static_cast<std::size_t>(3 * expert + p)].numbers) put_code(bytes, bf16_code(number), 2);
      return bytes;
    }
    const bool halved = form_.kind == K::mxfp4 || form_.kind == K::nvfp4 || form_.kind == K::int4;
    return halved ? packed(one.codes) : one.codes;
  }

  void add(std::string name, std::string_view dtype, std::vector<std::int64_t> shape, Bytes bytes, Part part, int expert, int projection) {
    made_.tensors.push_back({{std::move(name), std::string(dtype), std::move(shape), std::move(bytes)}, part, expert, projection});
  }

  std::vector<std::int64_t> weight_shape(std::int64_t rows, std::int64_t columns) const {
    if (form_.kind == K::int4) return {rows, columns / 8};
    return {rows, form_.kind == K::mxfp4 || form_.kind == K::nvfp4 ? columns / 2 : columns};
  }
  std::vector<std::int64_t> scale_shape(const Coded& one, std::int64_t times) const {
    if (form_.kind == K::fp8_tensor) return {};
    return {one.scale_rows * times, one.scale_columns};
  }

  void add_numbers(const std::string& name, const Coded& one, int expert, int projection) {
    const std::vector<std::int64_t> shape = form_.inverse ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{};
    Bytes bytes;
    put_code(bytes, f32_code(form_.inverse ? 1 / one.global : one.global), 4);
    if (!form_.global.empty()) add(name + std::string(form_.global), "F32", shape, bytes, Part::global, expert, projection);
    if (form_.input.empty()) return;
    bytes.clear();
    const double scale = (projection == 2 ? 3.0 : 11.0) / (form_.kind == K::nvfp4 ? 2688 : 448);
    put_code(bytes, f32_code(form_.inverse ? 1 / scale : scale), 4);
    add(name + std::string(form_.input), "F32", shape, bytes, Part::input, expert, projection);
  }

  void add_expert(int expert) {
    const std::array names = form_.lie == L::halves ? std::array{"w13", "", "w2"} : std::array{"gate_proj", "up_proj", "down_proj"};
    for (int p = 0; p < 3; ++p) {
      const bool both = form_.lie == L::halves && p == 0;
      if (form_.lie == L::halves && p == 1) continue;
      const std::string name = "model.layers.0.mlp.experts." + std::to_string(expert) + "." + names[static_cast<std::size_t>(p)];
      const Coded& one = at(expert, p);
      Bytes codes = codes_of(expert, p), scales = one.scales;
      if (both) {
        const Bytes more = codes_of(expert, 1);
        codes.insert(codes.end(), more.begin(), more.end());
        scales.insert(scales.end(), at(expert, 1).scales.begin(), at(expert, 1).scales.end());
      }
      const std::int64_t times = both ? 2 : 1;
      const int projection = both ? 3 : p;
      add(name + std::string(form_.weight), form_.weight_dtype, weight_shape(one.rows * times, one.columns), codes, Part::weight, expert, projection);
      if (form_.kind == K::plain) continue;
      add(name + std::string(form_.scale), form_.scale_dtype, scale_shape(one, times), scales, Part::scale, expert, projection);
      add_numbers(name, one, expert, projection);
      if (form_.kind != K::int4) continue;
      Bytes shape;
      for (const std::int64_t extent : {one.rows, one.columns}) {
        put_code(shape, static_cast<std::uint32_t>(extent), 4);
        put_code(shape, 0, 4);
      }
      add(name + ".weight_shape", "I64", {2}, shape, Part::other, expert, projection);
    }
  }

  /// Gate and up of all experts in one tensor, down in another.
  void add_stacked() {
    for (const bool w13 : {true, false}) {
      const Coded& like = at(0, w13 ? 0 : 2);
      const std::int64_t times = w13 ? 2 : 1;
      const auto rows = static_cast<std::size_t>(like.rows);
      Bytes codes, scales, globals;
      double global = 0;
      for (int expert = 0; expert < made_.experts; ++expert) {
        const int first = w13 ? 0 : 2;
        Bytes one = codes_of(expert, first), one_scales = at(expert, first).scales;
        if (w13) join(one, codes_of(expert, 1), rows);
        if (w13) join(one_scales, at(expert, 1).scales, static_cast<std::size_t>(like.scale_rows));
        const auto all_rows = rows * static_cast<std::size_t>(times);
        if (form_.lie == L::input_major) {
          // Two codes of one output stay in a byte.
          one = turned(one, all_rows);
          one_scales = turned(one_scales, all_rows);
        }
        codes.insert(codes.end(), one.begin(), one.end());
        scales.insert(scales.end(), one_scales.begin(), one_scales.end());
        global = std::max(global, at(expert, first).global);
      }
      const std::string name = std::string("model.layers.0.") + (form_.lie == L::input_major ? "feed_forward" : "mlp") + ".experts." +
                               (w13 ? "gate_up_proj" : "down_proj");
      std::vector<std::int64_t> shape = weight_shape(like.rows * times, like.columns), scale = scale_shape(like, times);
      if (form_.lie == L::input_major) {
        std::ranges::reverse(shape);
        std::ranges::reverse(scale);
      }
      if (form_.lie == L::alternating) shape = {shape[0], like.columns / 32, 16};
      shape.insert(shape.begin(), made_.experts);
      scale.insert(scale.begin(), made_.experts);
      const int projection = w13 ? 3 : 2;
      add(name + std::string(form_.weight), form_.weight_dtype, shape, codes, Part::weight, -1, projection);
      add(name + std::string(form_.scale), form_.scale_dtype, scale, scales, Part::scale, -1, projection);
      if (form_.lie == L::alternating) {
        Bytes bias;
        for (std::int64_t i = 0; i < made_.experts * like.rows * times; ++i) put_code(bias, bf16_code(drawn(random_) - 0.5), 2);
        add(name + "_bias", "BF16", {made_.experts, like.rows * times}, bias, Part::bias, -1, projection);
      }
      if (form_.global.empty()) continue;
      Coded shared = like;
      shared.global = global;
      add_numbers(name, shared, -1, projection);
    }
  }

  void join(Bytes& gate, const Bytes& up, std::size_t rows) const {
    if (form_.lie == L::alternating)
      gate = alternating(gate, up, rows);
    else
      gate.insert(gate.end(), up.begin(), up.end());
  }

  void add_router() {
    Bytes weight, bias;
    for (std::int64_t i = 0; i < made_.experts * made_.hidden; ++i) put_code(weight, bf16_code(drawn(random_) - 0.5), 2);
    for (std::int64_t i = 0; i < made_.experts; ++i) put_code(bias, bf16_code(drawn(random_) - 0.5), 2);
    const bool gpt_oss = form_.lie == L::alternating, llama = form_.lie == L::input_major;
    const std::string name = llama ? "model.layers.0.feed_forward.router" : gpt_oss ? "model.layers.0.mlp.router" : "model.layers.0.mlp.gate";
    add(name + ".weight", "BF16", {made_.experts, made_.hidden}, weight, Part::router, -1, -1);
    if (gpt_oss) add(name + ".bias", "BF16", {made_.experts}, bias, Part::other, -1, -1);
  }

  const SoundForm& form_;
  Random random_;
  SoundCheckpoint made_{};
  SoundRules rules_;
  int distribution_ = 0;
  double size_ = 1;
  int dead_ = -1;
  int tiny_ = -1;
  bool zero_blocks_ = false;
  std::vector<Coded> coded_;  ///< by expert and projection
  std::vector<SoundMatrix> plain_;
};

}  // namespace

std::span<const SoundForm> sound_forms() { return kForms; }

void SoundCheckpoint::write(const std::filesystem::path& directory) const {
  std::vector<support::TensorData> data;
  for (const SoundTensor& tensor : tensors) data.push_back(tensor.data);
  support::write_file(directory / "model.safetensors", support::safetensors_bytes(data, {}), true);
  support::write_file(directory / "config.json", {reinterpret_cast<const std::uint8_t*>(config.data()), config.size()}, true);
}

SoundCheckpoint sound_checkpoint(const SoundForm& form, std::uint64_t seed) { return Maker(form, seed).run(); }

}  // namespace mx::props
