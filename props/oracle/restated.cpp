#include "props/oracle/restated.hpp"

#include <algorithm>
#include <array>

namespace mx::props {
namespace {

constexpr std::array<RestatedBackend, 16> kBackends{{
    {"DEEPGEMM_MXFP4", "kFp8Dynamic128Sym", 128, 128, 128, 128},
    {"FLASHINFER_TRTLLM_MXFP4_MXFP8", "kMxfp8Dynamic", 256, 256, 256, 256},
    {"FLASHINFER_TRTLLM_MXFP4_BF16", "None", 256, 256, 256, 256},
    {"FLASHINFER_CUTLASS_MXFP4_MXFP8", "kMxfp8Dynamic", 128, 128, 128, 128},
    {"FLASHINFER_CUTLASS_MXFP4_BF16", "None", 128, 128, 128, 128},
    {"BATCHED_MARLIN", "None", 256, 128, 256, 128},
    {"MARLIN", "None", 256, 128, 256, 128},
    {"AITER_MXFP4_BF16", "None", 1, 64, 256, 256},
    {"AITER_MXFP4_FP8", "kFp8StaticTensorSym", 1, 64, 256, 256},
    {"AITER_MXFP4_MXFP4", "kMxfp4Dynamic", 1, 64, 256, 256},
    {"TRITON", "None", 1, 64, 256, 256},
    {"TRITON_UNFUSED", "None", 1, 64, 256, 256},
    {"XPU", "None", 1, 64, 256, 256},
    {"CPU", "None", 32, 32, 256, 256},
    {"EMULATION", "None", 1, 64, 256, 256},
    {"HUMMING", "None", 1, 64, 256, 256},
}};

/// What the words of a wish and of a backend have in common: one pair a line.
struct WishRow {
  std::string_view wish;
  std::string_view backend;
};
constexpr std::array<WishRow, 20> kWishes{{
    {"deep_gemm", "DEEPGEMM_MXFP4"},
    {"flashinfer_trtllm", "FLASHINFER_TRTLLM_MXFP4_BF16"},
    {"flashinfer_trtllm", "FLASHINFER_TRTLLM_MXFP4_MXFP8"},
    {"flashinfer_trtllm_afp8", "FLASHINFER_TRTLLM_MXFP4_MXFP8"},
    {"flashinfer_cutlass", "FLASHINFER_CUTLASS_MXFP4_BF16"},
    {"flashinfer_cutlass", "FLASHINFER_CUTLASS_MXFP4_MXFP8"},
    {"flashinfer_cutlass_afp8", "FLASHINFER_CUTLASS_MXFP4_MXFP8"},
    {"marlin", "MARLIN"},
    {"marlin", "BATCHED_MARLIN"},
    {"aiter", "AITER_MXFP4_BF16"},
    {"aiter", "AITER_MXFP4_FP8"},
    {"aiter", "AITER_MXFP4_MXFP4"},
    {"aiter_mxfp4_fp8", "AITER_MXFP4_FP8"},
    {"aiter_mxfp4_mxfp4", "AITER_MXFP4_MXFP4"},
    {"triton", "TRITON"},
    {"triton_unfused", "TRITON_UNFUSED"},
    {"xpu", "XPU"},
    {"cpu", "CPU"},
    {"emulation", "EMULATION"},
    {"humming", "HUMMING"},
}};

constexpr std::array<std::string_view, 11> kPriority = {"FLASHINFER_TRTLLM_MXFP4_BF16",
                                                        "FLASHINFER_TRTLLM_MXFP4_MXFP8",
                                                        "AITER_MXFP4_BF16",
                                                        "AITER_MXFP4_FP8",
                                                        "AITER_MXFP4_MXFP4",
                                                        "TRITON",
                                                        "FLASHINFER_CUTLASS_MXFP4_BF16",
                                                        "FLASHINFER_CUTLASS_MXFP4_MXFP8",
                                                        "MARLIN",
                                                        "BATCHED_MARLIN",
                                                        "XPU"};

}  // namespace

std::span<const RestatedBackend> restated_backends() { return kBackends; }

const RestatedBackend* restated_backend(std::string_view name) {
  const auto found = std::find_if(kBackends.begin(), kBackends.end(), [&](const RestatedBackend& row) { return row.name == name; });
  return found == kBackends.end() ? nullptr : &*found;
}

bool wish_means(std::string_view wish, std::string_view backend) {
  return std::any_of(kWishes.begin(), kWishes.end(), [&](const WishRow& row) { return row.wish == wish && row.backend == backend; });
}

std::span<const std::string_view> restated_priority() { return kPriority; }

}  // namespace mx::props
