#include "verbs/quantize/quantize_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "verbs/numbers/numbers.hpp"

namespace mx::verbs {
namespace {

using mx::verbs::QuantizedMatrix;

/// Elements of one block; of a tile with their places.
Table elements_of(const QuantizeRequest& request, std::span<const std::uint32_t> values, const QuantizedMatrix& matrix, std::size_t b) {
  const QuantizedBlock& block = matrix.blocks[b];
  const bool tile = matrix.block_rows > 1;
  Table table{{}, {{"input", "input"}, {"code", "code"}, {"dequantized", "dequantized"}}};
  if (tile) table.columns.insert(table.columns.begin(), {{"row", "row"}, {"column", "column"}});
  for (std::size_t i = 0; i < block.codes.size(); ++i) {
    const std::uint32_t input = values[matrix.index(b, i)];
    const std::uint32_t output = matrix.dequantized[b * static_cast<std::size_t>(matrix.block) + i];
    std::vector<Cell> row{{hex(input, *request.source), decimal(decode(*request.source, input))},
                          hex(block.codes[i], *request.format->element),
                          {hex(output, kF32), decimal(decode(kF32, output))}};
    const auto place = matrix.place(b, i);
    if (tile) row.insert(row.begin(), {Cell(place.row), Cell(place.column)});
    table.add(std::move(row));
  }
  return table;
}

void add_memory(Document& document, const ScaleLayout& layout, const std::vector<std::uint32_t>& scales, const Format& format) {
  Json memory = Json::array();
  for (std::uint32_t scale : scales) memory.push_back(hex(scale, format));
  if (!layout.block.empty()) {
    document.line(fmt::format("scales in memory, {}: {} of {} bits", layout.name, scales.size(), format.width));
    constexpr std::size_t kLine = 16;
    std::string line;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      line += (i % kLine == 0 ? "" : " ") + memory[i].text();
      if ((i + 1) % kLine == 0 || i + 1 == scales.size()) document.line(std::exchange(line, {}));
    }
  }
  document.value("scales", {{"layout", layout.name}, {"memory", std::move(memory)}});
}

/// Where most block scales are subnormal, the global scale leaves them no range: what would use it.
std::string coarse_scales(const QuantizeRequest& request, std::span<const std::uint32_t> values, const QuantizedMatrix& matrix) {
  const Format& scale = *request.format->scale;
  if (!request.tensor.encode || scale != kE4m3fn) return {};
  std::size_t subnormal = 0, nonzero = 0;
  for (const QuantizedBlock& block : matrix.blocks) {
    const std::uint32_t magnitude = block.scale & magnitude_mask(scale);
    if (magnitude != 0) ++nonzero;
    if (magnitude != 0 && (magnitude & exponent_mask(scale)) == 0) ++subnormal;
  }
  if (nonzero == 0 || 2 * subnormal <= nonzero) return {};
  double amax = 0;
  for (const std::uint32_t code : values) {
    const double magnitude = std::abs(static_cast<double>(std::bit_cast<float>(to_f32(code, *request.source))));
    if (std::isfinite(magnitude)) amax = std::max(amax, magnitude);
  }
  constexpr double kRange = 448.0 * 6.0;  // the largest scale times the largest element
  return fmt::format("{} of {} block scales are subnormal; with a largest magnitude of {} a global scale of {} / {} = {} uses their range", subnormal,
                     nonzero, amax, kRange, amax, kRange / amax);
}

}  // namespace

Document quantize_document(const QuantizeRequest& request, std::span<const std::string> words, const ScaleLayout& layout) {
  const BlockFormat& format = *request.format;
  const Recipe& how = recipe(*request.profile, format, *request.source);
  std::vector<std::uint32_t> values;
  std::string rounded;
  for (const std::string& word : words) {
    const Typed typed = parse_typed(word, *request.source);
    values.push_back(static_cast<std::uint32_t>(typed.code));
    if (typed.exact && rounded.empty()) rounded = fmt::format("{} is {}", word, decimal(decode(*request.source, values.back())));
  }
  const QuantizedMatrix matrix = quantize_matrix(values, request);
  Document document{"quantize"};
  document.value("format", format.name);
  document.value("scale_rule", scale_rule_name(how));
  document.value("profile", request.profile->name);
  document.value("source", request.source->name);
  document.value("rows", matrix.rows);
  document.value("block", matrix.block);
  document.value("block_rows", matrix.block_rows);
  document.value("dequantized_by", matrix.dequantizer == nullptr ? "exact" : "profile");
  document.line(fmt::format("{}: blocks of {}, scale rule {}, profile {}", format.name, matrix.block, scale_rule_name(how), request.profile->name));
  if (!gives_codes(how)) document.line(fmt::format("profile {} defines the scales alone and no elements", request.profile->name));
  if (gives_codes(how))
    document.line("dequantized " +
                  (matrix.dequantizer == nullptr ? std::string("exactly, code times scale") : fmt::format("as {} does", request.profile->name)));
  Json blocks = Json::array();
  for (std::size_t b = 0; b < matrix.blocks.size(); ++b) {
    const std::uint32_t code = matrix.blocks[b].scale;
    const std::string scale = hex(code, *format.scale);
    Table elements = elements_of(request, values, matrix, b);
    document.line(fmt::format("block {}: scale {} = {}", b, scale, decimal(decode(*format.scale, code))));
    blocks.push_back({{"scale", scale}, {"elements", elements.json()}});
    document.table(std::move(elements));
  }
  document.value("blocks", std::move(blocks));
  if (!rounded.empty())
    document.note(fmt::format("a block has numbers of {}: {}, the nearest, as is every value that it does not hold", request.source->name, rounded));
  if (const std::string remark = coarse_scales(request, values, matrix); !remark.empty()) document.note(remark);
  add_memory(document, layout, scales_in(layout, matrix, format), *format.scale);
  return document;
}

}  // namespace mx::verbs
