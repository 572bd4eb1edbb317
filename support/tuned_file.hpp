#pragma once
// A tuned file of vLLM: JSON with a tile of its Triton kernel for each of several numbers of tokens.

#include <filesystem>
#include <string>
#include <string_view>

#include "model/families/launch.hpp"

namespace mx::support {

/// Tiles of such a text: an object whose keys are numbers of tokens and whose values have BLOCK_SIZE_M, BLOCK_SIZE_N and BLOCK_SIZE_K. Other members
/// of a tile are integers that change no bit, and what else the file says of itself (triton_version) is text. Throws Error(input) that names `where`
/// and the place. Source: vllm 7e1b45a09 fused_moe.py get_moe_configs, fused_moe/configs.
families::TunedTiles tuned_tiles(std::string_view text, const std::string& where);
/// Of a file; throws as read_file does, too.
families::TunedTiles read_tuned_file(const std::filesystem::path& path);

/// How a launch names such a file.
inline constexpr std::string_view kTunedField = "tuned=";
/// families::read_launch, and of the field "tuned=FILE" the tiles of that file. Throws Error(usage) for a second such field.
families::LaunchChoice launch_of(std::string_view text);

}  // namespace mx::support
