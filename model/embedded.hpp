#pragma once
// Data files that people edit and a library holds: mxact_embed of cmake/embed.cmake makes spans of these.

#include <string_view>

namespace mx {

struct EmbeddedFile {
  std::string_view path;  ///< from the project's folder
  std::string_view bytes;
};

}  // namespace mx
