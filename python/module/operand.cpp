#include "python/module/operand.hpp"

#include <cstring>

#include "kernels/codec/arguments.hpp"
#include "kernels/sweep/codes.hpp"

namespace mx::python {
namespace {

std::vector<Value> decoded(const Format& format, std::span<const std::uint8_t> bytes) {
  const std::size_t width = kernels::code_bytes(format);
  std::vector<Value> values;
  values.reserve(bytes.size() / width);
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + at, width);
    if (format == kTf32) code >>= 32 - kTf32.width;  // a register, as in tiles
    if (format.width < 32 && code >> format.width != 0) kernels::refuse_code(format, code, at / width);
    values.push_back(decode(format, code));
  }
  return values;
}

}  // namespace

Side::Side(const Given& given) {
  const auto& [format, scale_format, block, codes, scale_codes] = given;
  const Format& of = factor_format_named(format);
  elements = decoded(of, span_of(codes));
  const Format* of_scales = scale_format.empty() ? nullptr : &format_named(scale_format);
  if (of_scales != nullptr) scales = decoded(*of_scales, span_of(scale_codes));
  operand = {.elements = elements, .format = &of, .scales = scales, .block = block, .scale_format = of_scales};
}

std::vector<Value> values_of(const Given& given) {
  Side side(given);
  for (std::size_t k = 0; k < side.elements.size() && !side.scales.empty(); ++k) {
    side.elements[k] = exact_product(side.elements[k], side.scales[k / static_cast<std::size_t>(side.operand.block)]);
  }
  return std::move(side.elements);
}

}  // namespace mx::python
