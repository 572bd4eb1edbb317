#pragma once
// Sound checkpoints of every form: weights drawn from several distributions, quantized by the rules of many quantizers, written apart from the model.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/safetensors.hpp"

namespace mx::props {

/// What a tensor of an expert is.
enum class Part : std::uint8_t { weight, scale, global, input, bias, router, other };

/// A tensor with what it is, in a checkpoint that was generated.
struct SoundTensor {
  support::TensorData data;
  Part part = Part::other;
  int expert = -1;      ///< -1: all of them
  int projection = -1;  ///< 0 gate, 1 up, 2 down, 3 gate and up
};

/// What scales and codes of a form are.
enum class SoundKind : std::uint8_t { mxfp4, mxfp8, nvfp4, fp8_block, fp8_channel, fp8_tensor, int4, plain };

/// How the experts lie in the file.
enum class SoundLie : std::uint8_t { each, halves, alternating, stacked, input_major };

/// A form, by its names as hubs have them.
struct SoundForm {
  std::string_view id;
  SoundKind kind;
  SoundLie lie;
  std::string_view weight, weight_dtype;
  std::string_view scale, scale_dtype;
  std::string_view global;  ///< empty: none
  std::string_view input;
  bool inverse;             ///< both are stored as reciprocals
  std::string_view config;  ///< members of config.json
};
std::span<const SoundForm> sound_forms();

struct SoundCheckpoint {
  const SoundForm* form;
  std::vector<SoundTensor> tensors;
  std::string config;
  std::int64_t experts, intermediate, hidden;

  /// Into a directory that is there.
  void write(const std::filesystem::path& directory) const;
};

/// One layer; everything follows from the seed. The forms, distributions and rules are drawn too: experts that were never trained, blocks of zeros,
/// tiny experts and outliers among them.
SoundCheckpoint sound_checkpoint(const SoundForm& form, std::uint64_t seed);

}  // namespace mx::props
