// Whose rule made codes and scales of a base.

#include "checkpoint/maker/made_by.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "python/module/core.hpp"
#include "verbs/compare/makers_document.hpp"

namespace mx::python {
namespace {

/// The model's own object of a format that such a matrix may have: recipes name theirs by it.
const Format* format_of(const std::string& name) {
  constexpr std::array<const Format*, 6> kKnown{&kF32, &kBf16, &kFp16, &kE2m1, &kE4m3fn, &kE8m0};
  return *std::ranges::find(kKnown, name, &Format::name);
}

/// Rows of a tensor that lies in one piece.
std::span<const std::uint8_t> rows_of(std::span<const std::uint8_t> all, std::int64_t first, std::int64_t count, std::int64_t rows) {
  const std::size_t row = all.size() / static_cast<std::size_t>(rows);
  return all.subspan(static_cast<std::size_t>(first) * row, static_cast<std::size_t>(count) * row);
}

/// `block`: rows and columns that a scale counts for, 0 and 0 for all. `number`: fp32 bits of the one number.
nb::dict made_by(const std::string& source, const std::string& element, const std::string& scale, std::tuple<std::int64_t, std::int64_t> size,
                 std::tuple<std::int64_t, std::int64_t> block, std::optional<std::uint32_t> number, bool divides, const Bytes& base,
                 const Bytes& codes, const Bytes& scales) {
  support::Json body;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const auto [rows, columns] = size;
    const auto [height, width] = block;
    checkpoint::CodedMatrix matrix{.rows = rows,
                                   .columns = columns,
                                   .source = format_of(source),
                                   .element = format_of(element),
                                   .scale = format_of(scale),
                                   .block_rows = height,
                                   .block_columns = width,
                                   .number = std::nullopt,
                                   .read = {}};
    if (number) matrix.number = checkpoint::StoredNumber{*number, divides};
    matrix.read = [&, rows = rows, height = height](std::int64_t first, std::int64_t count) {
      const auto words = rows_of(span_of(base), first, count, rows), bytes = rows_of(span_of(codes), first, count, rows);
      checkpoint::CodedRows read{std::vector<std::byte>(words.size()), {bytes.begin(), bytes.end()}, {}};
      std::memcpy(read.base.data(), words.data(), words.size());
      if (height == 0) return read;
      const auto down = [&](std::int64_t to) { return (to + height - 1) / height; };
      const auto of = rows_of(span_of(scales), first / height, down(first + count) - first / height, down(rows));
      read.scales.assign(of.begin(), of.end());
      return read;
    };
    body = verbs::made_by_json(checkpoint::made_by(matrix, {}));
  }
  return nb::borrow<nb::dict>(to_python(body));
}

}  // namespace

void bind_made_by(nb::module_& module) {
  module.def("made_by", made_by, nb::arg("source"), nb::arg("element"), nb::arg("scale"), nb::arg("size"), nb::arg("block"), nb::arg("number").none(),
             nb::arg("divides"), nb::arg("base"), nb::arg("codes"), nb::arg("scales"));
}

}  // namespace mx::python
