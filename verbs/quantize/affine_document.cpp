#include "verbs/quantize/affine_document.hpp"

#include <fmt/core.h>

#include <vector>

#include "model/error.hpp"
#include "model/numerics/affine.hpp"
#include "verbs/numbers/numbers.hpp"

namespace mx::verbs {
namespace {

Table elements_of(std::span<const std::uint32_t> x, const AffineBlock& block, const AffineRules& rules) {
  Table table{{}, {{"input", "input"}, {"code", "code"}, {"dequantized", "dequantized"}}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t back = dequantize(block.codes[i], block.zero, block.scale, rules, kF32);
    table.add({{hex(x[i], kF32), decimal(decode(kF32, x[i]))}, std::to_string(block.codes[i]), {hex(back, kF32), decimal(decode(kF32, back))}});
  }
  return table;
}

AffineBlock quantized(std::span<const std::uint32_t> x, const AffineRules& rules, std::size_t number) {
  try {
    return quantize(x, rules);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("block {}, {}", number, error.what()));
  }
}

}  // namespace

Document affine_document(const std::string& rules, std::int64_t rows, std::span<const std::string> words) {
  const AffineRules how = affine_rules(rules);
  const std::string text = text_of(how);
  std::vector<std::uint32_t> values;
  for (const std::string& word : words) values.push_back(static_cast<std::uint32_t>(parse_typed(word, kF32).code));
  const auto of_rows = static_cast<std::size_t>(rows);
  if (values.empty() || values.size() % of_rows != 0)
    throw Error(ErrorCode::usage, fmt::format("{} values are no {} whole rows", values.size(), rows));
  const std::size_t columns = values.size() / of_rows, size = how.block == 0 ? columns : static_cast<std::size_t>(how.block);
  if (columns % size != 0)
    throw Error(ErrorCode::usage, fmt::format("{} values in a row are no whole blocks: {} has blocks of {}", columns, text, size));
  Document document{"quantize"};
  document.value("format", text);
  document.value("scale_rule", name_of(how.rule));
  document.value("profile", text);
  document.value("source", kF32.name);
  document.value("rows", rows);
  document.value("block", static_cast<std::int64_t>(size));
  document.value("block_rows", std::int64_t{1});
  document.value("dequantized_by", "profile");
  document.line(text);
  document.line("dequantized as (code - zero point) * scale, rounded once");
  Json blocks = Json::array(), memory = Json::array();
  for (std::size_t b = 0; b * size < values.size(); ++b) {
    const std::span<const std::uint32_t> x = std::span(values).subspan(b * size, size);
    const AffineBlock block = quantized(x, how, b);
    const std::string scale = hex(block.scale, *how.scale);
    memory.push_back(scale);
    Table elements = elements_of(x, block, how);
    document.line(fmt::format("block {}: scale {} = {}, zero point {}{}", b, scale, decimal(decode(*how.scale, block.scale)), block.zero,
                              how.zero ? "" : ", which is not kept"));
    blocks.push_back({{"scale", scale}, {"zero_point", block.zero}, {"elements", elements.json()}});
    document.table(std::move(elements));
  }
  document.value("blocks", std::move(blocks));
  document.value("scales", {{"layout", "linear"}, {"memory", std::move(memory)}});
  return document;
}

}  // namespace mx::verbs
