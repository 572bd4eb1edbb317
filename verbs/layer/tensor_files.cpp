#include "verbs/layer/tensor_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "model/error.hpp"
#include "support/file.hpp"
#include "support/npy.hpp"
#include "support/quote.hpp"
#include "support/safetensors.hpp"

namespace mx::verbs {
namespace {

using sim::LayerStage;
using sim::StageValues;

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;
constexpr std::string_view kArrayEnd = ".npy", kContainerEnd = ".safetensors";
constexpr std::string_view kElements = ".elements", kPossible = ".possible";

[[noreturn]] void refuse(const std::string& text, const std::string& where) { throw Error(ErrorCode::usage, text, where); }

struct NumpyType {
  char kind;
  std::size_t width;
  std::string_view dtype;
};
/// ml_dtypes' own types are saved as void.
constexpr std::array kTypes{NumpyType{'f', 4, "F32"},  NumpyType{'f', 2, "F16"},  NumpyType{'f', 8, "F64"},
                            NumpyType{'i', 4, "I32"},  NumpyType{'i', 8, "I64"},  NumpyType{'u', 1, "U8"},
                            NumpyType{'u', 2, "BF16"}, NumpyType{'V', 2, "BF16"}, NumpyType{'V', 1, "U8"}};

FileTensor read_array(const std::string& path) {
  const support::MappedFile file{path};
  const support::NpyArray array = support::npy_array(file.bytes(), kMostElements, path);
  const auto* const type = std::ranges::find_if(kTypes, [&](const NumpyType& one) { return one.kind == array.kind && one.width == array.width; });
  if (type == kTypes.end()) refuse(array.type() + " is none of the types that a stage, x, ids or weights may have", path);
  return {path, std::string(type->dtype), array.shape, {array.bytes.begin(), array.bytes.end()}};
}

std::string names_of(const support::SafetensorsFile& file) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, view] : file.tensors()) {
    if (++count > kMostNamed) return text + ", ...";
    text += (text.empty() ? "" : ", ") + support::in_quotes(name);
  }
  return text.empty() ? "none" : text;
}

FileTensor tensor_of(const support::SafetensorsFile& file, std::string_view name) {
  const support::TensorView* const view = file.find(name);
  if (view == nullptr)
    refuse(fmt::format("has no tensor {}; it has {}", support::in_quotes(std::string(name)), names_of(file)), file.path().string());
  return {file.path().string() + ":" + std::string(name), std::string(view->dtype->name), view->shape, file.read(*view)};
}

/// The path of a container, and what is typed behind it.
std::pair<std::string, std::string> split(const std::string& typed) {
  const std::size_t at = typed.rfind(std::string(kContainerEnd) + ":");
  if (at == std::string::npos) return {typed, {}};
  const std::size_t end = at + kContainerEnd.size();
  return {typed.substr(0, end), typed.substr(end + 1)};
}

/// Elements of `width` bytes.
std::uint64_t element(const FileTensor& tensor, std::size_t index, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t byte = width; byte-- > 0;) number = number << 8U | tensor.bytes[index * width + byte];
  return number;
}

std::string place_text(const FileTensor& tensor, std::size_t index) {
  std::vector<std::size_t> place(tensor.shape.size());
  for (std::size_t axis = place.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(tensor.shape[axis]);
    place[axis] = index % extent;
    index /= extent;
  }
  return fmt::format("[{}]", fmt::join(place, ", "));
}

}  // namespace

FileTensor read_tensor(const std::string& file, std::string_view name) {
  if (file.ends_with(kArrayEnd)) return read_array(file);
  const auto [path, typed] = split(file);
  return tensor_of(support::SafetensorsFile(path), typed.empty() ? name : std::string_view(typed));
}

StageValues stage_of(FileTensor tensor, LayerStage stage) {
  if (tensor.dtype.starts_with("F8_")) tensor.dtype = "U8";
  const std::array<std::string_view, 3> known{"U8", "BF16", "F32"};
  const auto* const dtype = std::ranges::find(known, tensor.dtype);
  if (dtype == known.end()) refuse(fmt::format("is {}, no type of a stage: U8, BF16 or F32", tensor.dtype), tensor.where);
  if (tensor.shape.size() == 3) tensor.shape = {tensor.shape[0] * tensor.shape[1], tensor.shape[2]};
  return {stage, *dtype, std::move(tensor.shape), sim::words_of(tensor.bytes, *dtype)};
}

std::vector<StageValues> read_stages(const std::string& file, std::span<const LayerStage> wanted) {
  if (file.ends_with(kArrayEnd)) {
    if (wanted.size() != 1) refuse("an array is one stage: --stages says which", file);
    return {stage_of(read_array(file), wanted.front())};
  }
  const support::SafetensorsFile container{file};
  std::vector<StageValues> stages;
  for (const auto& [name, view] : container.tensors()) {
    if (name.ends_with(kElements) || name.ends_with(kPossible)) continue;
    const LayerStage stage = sim::stage_named(name).stage;
    if (wanted.empty() || std::ranges::find(wanted, stage) != wanted.end()) stages.push_back(stage_of(tensor_of(container, name), stage));
  }
  for (const LayerStage stage : wanted) {
    if (std::ranges::find(stages, stage, &StageValues::stage) == stages.end()) static_cast<void>(tensor_of(container, sim::row_of(stage).name));
  }
  if (stages.empty()) refuse("has no stage", file);
  std::ranges::sort(stages, {}, &StageValues::stage);
  return stages;
}

std::vector<std::uint32_t> bf16_codes(const FileTensor& tensor) {
  if (tensor.dtype == "BF16") return sim::words_of(tensor.bytes, "BF16");
  if (tensor.dtype != "F32") refuse(fmt::format("is {}, must be BF16, or F32 numbers that bf16 has", tensor.dtype), tensor.where);
  std::vector<std::uint32_t> codes = sim::words_of(tensor.bytes, "F32");
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if ((codes[i] & 0xFFFFU) != 0)
      refuse(fmt::format("{} is {} ({:#010x}), which bf16 has not: round x as the engine does", place_text(tensor, i), std::bit_cast<float>(codes[i]),
                         codes[i]),
             tensor.where);
    codes[i] >>= 16U;
  }
  return codes;
}

std::vector<std::int32_t> whole_numbers(const FileTensor& tensor) {
  if (tensor.dtype != "I32" && tensor.dtype != "I64") refuse(fmt::format("is {}, must be I32 or I64", tensor.dtype), tensor.where);
  const std::size_t width = tensor.dtype == "I32" ? 4 : 8;
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < tensor.bytes.size() / width; ++i) {
    const auto unused = static_cast<unsigned>(64 - 8 * width);
    const std::int64_t number = static_cast<std::int64_t>(element(tensor, i, width) << unused) >> unused;
    if (number != static_cast<std::int32_t>(number))
      refuse(fmt::format("{} is {}, no number of an expert", place_text(tensor, i), number), tensor.where);
    numbers.push_back(static_cast<std::int32_t>(number));
  }
  return numbers;
}

std::vector<std::uint32_t> f32_bits(const FileTensor& tensor) {
  if (tensor.dtype == "F32") return sim::words_of(tensor.bytes, "F32");
  if (tensor.dtype != "BF16") refuse(fmt::format("is {}, must be F32 or BF16", tensor.dtype), tensor.where);
  std::vector<std::uint32_t> bits = sim::words_of(tensor.bytes, "BF16");
  for (std::uint32_t& word : bits) word <<= 16U;
  return bits;
}

void require_stage_file(const std::string& file) {
  if (!file.ends_with(kArrayEnd) && !file.ends_with(kContainerEnd))
    refuse(fmt::format("takes a file that ends in {} or, of one stage, {}, not '{}'", kContainerEnd, kArrayEnd, file), "-o");
}

namespace {

/// A tensor beside a stage NAME: NAME.elements has the numbers of its elements without one value, NAME.possible a row of what each may have, the last
/// one repeated.
struct Beside {
  std::string name;
  StageValues tensor;
};
void add_possible(std::vector<Beside>& all, const StageValues& stage) {
  const std::string name(sim::row_of(stage.stage).name);
  const auto count = static_cast<std::int64_t>(stage.possible.size());
  const std::size_t most = most_possible(stage);
  StageValues elements{stage.stage, "I32", {count}, {}}, possible{stage.stage, stage.dtype, {count, static_cast<std::int64_t>(most)}, {}};
  for (const auto& [element, words] : stage.possible) {
    elements.words.push_back(static_cast<std::uint32_t>(element));
    for (std::size_t i = 0; i < most; ++i) possible.words.push_back(words[std::min(i, words.size() - 1)]);
  }
  all.push_back({name + std::string(kElements), std::move(elements)});
  all.push_back({name + std::string(kPossible), std::move(possible)});
}

}  // namespace

std::size_t most_possible(const StageValues& stage) {
  std::size_t most = 1;
  for (const auto& [element, words] : stage.possible) most = std::max(most, words.size());
  return most;
}

void write_stages(const std::string& file, std::span<const StageValues> stages, const std::map<std::string, std::string>& metadata, bool force) {
  if (file.ends_with(kArrayEnd)) {
    if (stages.size() != 1) refuse(fmt::format("an array is one stage, not {}: --stages says which", stages.size()), file);
    const StageValues& stage = stages.front();
    const std::string_view descr = stage.dtype == "U8" ? "|u1" : stage.dtype == "BF16" ? "<u2" : "<f4";
    return support::write_file(file, support::npy_bytes(descr, stage.shape, sim::bytes_of(stage)), force);
  }
  std::vector<Beside> beside;
  std::vector<support::TensorEntry> entries;
  for (const StageValues& stage : stages) {
    entries.push_back({std::string(sim::row_of(stage.stage).name), std::string(stage.dtype), stage.shape});
    if (!stage.possible.empty()) add_possible(beside, stage);
  }
  for (const auto& [name, tensor] : beside) entries.push_back({name, std::string(tensor.dtype), tensor.shape});
  support::SafetensorsWriter writer(file, entries, metadata, force);
  for (const StageValues& stage : stages) writer.put(sim::row_of(stage.stage).name, sim::bytes_of(stage));
  for (const auto& [name, tensor] : beside) writer.put(name, sim::bytes_of(tensor));
  writer.commit();
}

}  // namespace mx::verbs
