// Contracts as they are typed, names or records, or in a file's lines: what is read has one text, which is read back the same, and sums.

#include <string>
#include <vector>

#include "model/numerics/dot.hpp"
#include "support/contract_file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view typed = mx::tests::text_of(data, size);
  mx::tests::expect_answer(typed, [&] {
    const std::string called = mx::support::record_of_lines(typed);
    const mx::ContractRow& row = mx::row_of(mx::contract_named(called));
    const std::string text = mx::text_of(row);
    mx::tests::require(mx::text_of(mx::row_of(mx::contract_named(text))) == text, "a record is read back the same");
    const mx::Format& format_a = row.a_formats.empty() ? mx::kBf16 : *row.a_formats[0];
    const mx::Format& format_b = row.b_formats.empty() ? mx::kBf16 : *row.b_formats[0];
    const std::vector<mx::Value> a(40, mx::decode(format_a, 1));
    const std::vector<mx::Value> b(40, mx::decode(format_b, 1));
    const bool terms = row.scales == mx::ScaleEntry::term;
    const auto block = static_cast<std::size_t>(terms ? row.scale_block : row.restart > 0 ? row.restart : 40);
    const std::vector<mx::Value> scales((40 + block - 1) / block, mx::Value{1, 0, mx::ValueClass::finite, false});
    const mx::Format* scale_format = terms ? row.scale_format : nullptr;
    mx::dot(row, {a, &format_a, scales, static_cast<int>(block), scale_format}, {b, &format_b, scales, static_cast<int>(block), scale_format},
            {.c = 0x3F800000U, .bias = {}});
  });
  return 0;
}
