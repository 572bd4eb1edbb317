#include "model/numerics/dot.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

constexpr std::array<ContractRow, 2> kContracts{{
    {Contract::exact, "exact", "as they are", "the exact sum of the exact products, rounded once to fp32, nearest even", "a term of the exact sum",
     Grounds::definition},
    {Contract::f32_sequential, "f32-sequential", "rounded to fp32, nearest even", "k ascending from +0, one fp32 fused multiply-add each",
     "one fp32 add after the chain", Grounds::definition},
}};

std::uint32_t exact_dot(std::span<const Value> a, std::span<const Value> b, std::uint32_t bias_f32) {
  ExactSum sum;
  for (std::size_t k = 0; k < a.size(); ++k) sum.add_product(a[k], b[k]);
  sum.add(decode(kF32, bias_f32));
  return sum.to_f32();
}

std::uint32_t sequential_dot(std::span<const Value> a, std::span<const Value> b, std::uint32_t bias_f32) {
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum = f32::fma(to_f32(a[k]), to_f32(b[k]), sum);
  return f32::add(sum, bias_f32);
}

}  // namespace

std::span<const ContractRow> all_contracts() { return kContracts; }

Contract contract_named(std::string_view name) { return rows::named(kContracts, "contract", name).contract; }

std::string_view name_of(Contract contract) {
  const auto row = std::ranges::find(kContracts, contract, &ContractRow::contract);
  return row->name;
}

std::uint32_t dot(Contract contract, std::span<const Value> a, std::span<const Value> b, std::uint32_t bias_f32) {
  if (a.size() != b.size()) {
    throw Error(ErrorCode::usage, "a dot product of " + std::to_string(a.size()) + " by " + std::to_string(b.size()) + " elements");
  }
  switch (contract) {
    case Contract::exact: return exact_dot(a, b, bias_f32);
    case Contract::f32_sequential: break;
  }
  return sequential_dot(a, b, bias_f32);
}

}  // namespace mx
