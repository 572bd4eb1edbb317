#include "model/engine/vllm/setup/hidden_roundup.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "model/column.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

struct DtypeRow {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<DtypeRow, 9> kDtypes = {{
    {"bfloat16", 2},
    {"float16", 2},
    {"float32", 4},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e5m2", 1},
    {"float8_e5m2fnuz", 1},
    {"int8", 1},
    {"uint8", 1},
}};
constexpr std::array kDtypeNames = column_of(kDtypes, &DtypeRow::name);

// Source: vllm prepare_finalize/deepep_ll.py SUPPORTED_HIDDEN_SIZES; nixl_ep.py has the same.
constexpr std::array<std::int64_t, 8> kBatchedKernelSizes = {2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192};

/// The rule of one kind of exchange: whole units of bytes, or the next size of a list.
struct ExchangeRow {
  bool (deployment::Parallel::*used)() const;
  std::int64_t unit_bytes;  ///< 0: the list decides
  std::span<const std::int64_t> sizes;
};
constexpr std::array<ExchangeRow, 4> kExchanges = {{
    {&deployment::Parallel::use_deepep_ht_kernels, 512, {}},  // deepep_ht.py: a warp of 32 lanes moves 16 bytes each
    {&deployment::Parallel::use_deepep_v2_kernels, 512, {}},
    {&deployment::Parallel::use_deepep_ll_kernels, 0, kBatchedKernelSizes},
    {&deployment::Parallel::use_nixl_ep_kernels, 0, kBatchedKernelSizes},
}};

Answer<std::int64_t> next_of(std::span<const std::int64_t> sizes, std::int64_t hidden) {
  const auto fitting = std::lower_bound(sizes.begin(), sizes.end(), hidden);
  if (fitting != sizes.end()) return *fitting;
  return Refusal{"ValueError",
                 "hidden size " + std::to_string(hidden) + " is above " + std::to_string(sizes.back()) + ", the largest of the exchange"};
}

}  // namespace

std::int64_t element_bytes(std::string_view dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.name == dtype) return row.bytes;
  }
  throw Error(ErrorCode::usage, unknown_name("dtype", dtype, kDtypeNames));
}

Answer<std::int64_t> hidden_for_exchange(std::int64_t hidden, std::string_view dtype, const deployment::Parallel& parallel) {
  if (hidden < 1 || hidden > deployment::kLargestSize) {
    throw Error(ErrorCode::usage, "hidden size is " + std::to_string(hidden) + ", must be in [1, " + std::to_string(deployment::kLargestSize) + "]");
  }
  const std::int64_t bytes = element_bytes(dtype);
  for (const ExchangeRow& row : kExchanges) {
    if (!(parallel.*row.used)()) continue;
    if (row.unit_bytes == 0) return next_of(row.sizes, hidden);
    return (hidden * bytes + row.unit_bytes - 1) / row.unit_bytes * row.unit_bytes / bytes;
  }
  return hidden;
}

}  // namespace mx::engine
