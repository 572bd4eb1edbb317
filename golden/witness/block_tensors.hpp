#pragma once
// What the operations on blocks share: their parameters, packed codes, and tensors of results. All blocks run along the last axis.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/ops.hpp"
#include "model/numerics/profile.hpp"

namespace mx::golden {

/// Parameters that every block operation has. `block` is 0 where it is optional and absent.
struct BlockParams {
  const Format* element;
  const Format* scale;
  std::int64_t block;
  bool packed;  ///< two codes per byte, low nibble first

  std::int64_t per_byte() const { return packed ? 2 : 1; }
};

enum class BlockLength { required, optional };

/// Reads format, block, axis, scale_format and packing. `last_axis` is the number of the last axis, where it is known. Throws Unmodelled for what no
/// model covers.
BlockParams read_block_params(Fields& params, BlockLength length = BlockLength::required, std::int64_t last_axis = -1);

/// Whether the profile's implementation, device and build are the entry's.
bool has_run(const Profile& profile, const Entry& entry);

/// The profile row of an entry: implementation, device and build as recorded (a row's `any` matches all) and `operation` as the row says it.
/// Throws Unmodelled when there is none.
const Profile& profile_of(const Entry& entry, std::string_view operation);
/// The same for a profile of which `defines` is true; `what` names the operation in the reason.
const Profile& profile_of(const Entry& entry, std::string_view what, const std::function<bool(const Profile&)>& defines);

/// The profile that the rule nvfp4, nvfp4_single or nvfp4_direct of an entry names, with its `path`. Throws Unmodelled.
const Profile& nvfp4_profile_of(const Entry& entry, Fields& params);

/// How the implementation that ran turns these blocks into numbers. Throws Unmodelled when no row says so.
const Dequantizer& dequantizer_of(const Entry& entry, const BlockFormat& format, const Format& target, const TensorScale& tensor);

/// The tensor's scales: global_scale with rcp_global_scale, or per_tensor_scale. Throws Unmodelled for both.
TensorScale tensor_scale_of(Fields& params);

/// The block format with these elements and scales, and this block length. Throws Unmodelled.
const BlockFormat& block_format_of(const BlockParams& params);

/// Reads rounding and overflow, which must say what the recipe does. Throws Unmodelled.
void require_element_words(const Recipe& recipe, Fields& params);

Tensor zeros(std::string_view dtype, std::vector<std::int64_t> shape);
/// The shape with another last extent.
std::vector<std::int64_t> with_last(std::vector<std::int64_t> shape, std::int64_t last);
/// Throws Error(input).
void require_whole_blocks(std::int64_t last, std::int64_t block, const std::string& where);

/// Patterns of `count` elements from `first` on.
std::vector<std::uint32_t> patterns(const Tensor& x, std::int64_t first, std::int64_t count);

/// Writes the codes of elements `first`, first + 1, ... .
void set_codes(Tensor& codes, std::int64_t first, std::span<const std::uint32_t> values, bool packed);
/// Code of element i. Throws Error(input) for a byte that holds no code.
std::uint32_t code_at(const Tensor& codes, std::int64_t i, const BlockParams& params, const std::string& where);

/// Where a code byte of a quantizer comes from, for people.
std::function<std::string(std::int64_t)> code_origin(std::shared_ptr<const Tensor> x, std::int64_t per_byte);

}  // namespace mx::golden
