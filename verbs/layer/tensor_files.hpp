#pragma once
// Tensors of a run of a layer, from .npy and safetensors files and into them.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/execute/stages.hpp"

namespace mx::verbs {

/// One tensor of a file.
struct FileTensor {
  std::string where;  ///< of errors: the file, of a container with the tensor's name
  std::string dtype;  ///< as safetensors has it
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// `file` is FILE.npy, FILE.safetensors or FILE.safetensors:NAME; `name` is the tensor's where none is typed. Of numpy's types uint16 and 2-byte void
/// are BF16, 1-byte void is U8. Throws Error(input) as SafetensorsFile and npy_array do, Error(usage) where the container has no such tensor.
FileTensor read_tensor(const std::string& file, std::string_view name);

/// The stages whose names a container has, in their order; of an array the one that `wanted` names. Throws as read_tensor does, Error(usage) for
/// another name, for none and for an array without one name.
std::vector<sim::StageValues> read_stages(const std::string& file, std::span<const sim::LayerStage> wanted);
/// One of them: codes of formats with a byte are U8, and slots by token, [T, top_k, n], are as [T * top_k, n].
sim::StageValues stage_of(FileTensor tensor, sim::LayerStage stage);

/// bf16 codes of a matrix of BF16, or of F32 numbers that are ones of bf16. Throws Error(usage) for another type, and naming the first number that is
/// none.
std::vector<std::uint32_t> bf16_codes(const FileTensor& tensor);
/// Whole numbers of I32 or I64. Throws Error(usage) for another type, or a number that int32 has not.
std::vector<std::int32_t> whole_numbers(const FileTensor& tensor);
/// fp32 bits of F32 or BF16. Throws Error(usage) for another type.
std::vector<std::uint32_t> f32_bits(const FileTensor& tensor);

/// Throws Error(usage) unless the name ends in .safetensors or .npy.
void require_stage_file(const std::string& file);
/// The largest number of values that an element of a stage may have.
std::size_t most_possible(const sim::StageValues& stage);
/// Writes the stages, with what elements without one value may have: as a container with `metadata`, or, where the name ends in .npy, the one stage
/// as an array, BF16 as uint16. Throws Error(usage) for an array of several stages, and as SafetensorsWriter and write_file do.
void write_stages(const std::string& file, std::span<const sim::StageValues> stages, const std::map<std::string, std::string>& metadata, bool force);

}  // namespace mx::verbs
