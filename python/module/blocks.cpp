// Tensors to block codes and back.

#include <nanobind/stl/pair.h>

#include <utility>

#include "kernels/codec/whole_bytes.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

using Bits = std::optional<std::uint32_t>;

/// Which of the tensor's numbers the recipe cannot do without: the encode scale, the decode scale.
std::pair<bool, bool> recipe_needs(const std::string& format, const std::string& profile, const std::string& source) {
  const TensorNeeds needs = tensor_needs(recipe(profile_named(profile), block_format_named(format), format_named(source)));
  return {needs.encode, needs.decode};
}

void quantize(const std::string& format, const std::string& profile, const std::string& source, std::size_t rows, std::size_t cols, Bits encode,
              Bits decode, Bits amax_bound, const Bytes& elements, const Room& codes, const Room& scales) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const auto& [from, how] = known<std::pair<const Format*, const Recipe*>>(format, profile, source, [&] {
    const Format& of = format_named(source);
    return std::pair(&of, &recipe(profile_named(profile), block_format_named(format), of));
  });
  const TensorScale tensor{encode, decode, amax_bound};
  const kernels::Quantizing ready(*how, *from, tensor);
  if (elements.size() == 0) return;
  kernels::quantize_whole_bytes(std::as_bytes(span_of(elements)), {rows, cols}, ready, {span_of(codes), span_of(scales)}, workers());
}

/// Code times scale exactly, rounded once: of formats whose profile has no dequantizer of its own. Equal to dequantize(code, scale, format).
Dequantizer exact_product(const BlockFormat& format, const Format& target) {
  return {.format = &format,
          .target = &target,
          .reading = ScaleReading::value,
          .arithmetic = nullptr,
          .range = ProductRange::infinite,
          .nan_scale_wins = false,
          .tensor = TensorUse::none,
          .source = "MX 1.0 section 5.2"};
}

/// What the profile's dequantizer takes of the tensor's numbers: "", "encode" or "decode"; none where the profile has none.
std::optional<std::string> dequantizer_takes(const std::string& format, const std::string& profile, const std::string& target) {
  const Dequantizer* how = find_dequantizer(profile_named(profile), block_format_named(format), format_named(target));
  if (how == nullptr) return std::nullopt;
  switch (how->tensor) {
    case TensorUse::none: return "";
    case TensorUse::divides_scale: return "encode";
    case TensorUse::multiplies_scale: return "decode";
  }
  return "";
}

/// `profile` none: the exact product.
void dequantize(const std::string& format, const std::optional<std::string>& profile, const std::string& target, std::size_t rows, std::size_t cols,
                Bits encode, Bits decode, const Bytes& codes, const Bytes& scales, const Room& elements) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const BlockFormat& of = block_format_named(format);
  const Format& to = format_named(target);
  const Dequantizer how = dequantizer_of(profile, of, to);
  if (codes.size() == 0) return;
  kernels::dequantize_whole_bytes({span_of(codes), span_of(scales)}, {rows, cols}, how, {encode, decode},
                                  {&to, std::as_writable_bytes(span_of(elements))}, workers());
}

}  // namespace

Dequantizer dequantizer_of(const std::optional<std::string>& profile, const BlockFormat& format, const Format& target) {
  return profile ? dequantizer(profile_named(*profile), format, target) : exact_product(format, target);
}

void bind_blocks(nb::module_& module) {
  module.def("recipe_needs", recipe_needs, nb::arg("format"), nb::arg("profile"), nb::arg("source"));
  module.def("quantize", quantize, nb::arg("format"), nb::arg("profile"), nb::arg("source"), nb::arg("rows"), nb::arg("cols"),
             nb::arg("encode").none(), nb::arg("decode").none(), nb::arg("amax_bound").none(), nb::arg("elements"), nb::arg("codes"),
             nb::arg("scales"));
  module.def("dequantizer_takes", dequantizer_takes, nb::arg("format"), nb::arg("profile"), nb::arg("target"));
  module.def("dequantize", dequantize, nb::arg("format"), nb::arg("profile").none(), nb::arg("target"), nb::arg("rows"), nb::arg("cols"),
             nb::arg("encode").none(), nb::arg("decode").none(), nb::arg("codes"), nb::arg("scales"), nb::arg("elements"));
}

}  // namespace mx::python
