#include "cli/picture_file.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/report/report.hpp"

namespace mx::cli {

void require_svg(const std::string& path, bool force) {
  if (std::filesystem::path(path).extension() != ".svg") {
    throw Error(ErrorCode::usage, fmt::format("-o takes a file that ends in .svg, not '{}'", path));
  }
  sim::require_writable(path, force);
}

void write_picture(const std::string& path, const Json& json, bool force) {
  const std::string picture = golden::as_file(golden::picture_of(golden::run_of(path, json)));
  sim::write_file(path, {reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()}, force);
}

}  // namespace mx::cli
