#include "verbs/layout/identify/tensor_file.hpp"

#include <fmt/core.h>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "support/safetensors.hpp"

namespace mx::verbs {
namespace {

constexpr std::string_view kSuffix = ".safetensors";

TensorFile from_safetensors(const std::string& path, const std::string& name) {
  const auto file = std::make_shared<const support::SafetensorsFile>(path);
  const support::TensorView* tensor = nullptr;
  std::vector<std::string_view> known;
  for (const auto& [key, view] : file->tensors()) {
    known.push_back(key);
    if (key == name || (name.empty() && file->tensors().size() == 1)) tensor = &view;
  }
  if (tensor == nullptr) {
    const std::string what = name.empty() ? fmt::format("{} tensors, say which: {}:TENSOR", known.size(), path) : unknown_name("tensor", name, known);
    throw Error(ErrorCode::input, what, path);
  }
  return {file, tensor->bytes, tensor->shape, tensor->dtype->bits};
}

TensorFile from_raw(const std::string& path) {
  const auto file = std::make_shared<const support::MappedFile>(path);
  return {file, file->bytes(), {}, 0};
}

}  // namespace

TensorFile open_tensor(const std::string& text) {
  const std::size_t suffix = text.rfind(kSuffix);
  const std::size_t behind = suffix == std::string::npos ? std::string::npos : suffix + kSuffix.size();
  const bool is_container = behind != std::string::npos && (behind == text.size() || text[behind] == ':');
  const std::string name = is_container && behind < text.size() ? text.substr(behind + 1) : std::string();
  TensorFile tensor = is_container ? from_safetensors(text.substr(0, behind), name) : from_raw(text);
  if (tensor.bytes.empty()) throw Error(ErrorCode::input, "it has no bytes", text);
  return tensor;
}

}  // namespace mx::verbs
