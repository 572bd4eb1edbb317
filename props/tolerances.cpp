#include "props/tolerances.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace mx::props {
namespace {

using Floats = std::span<const float>;

/// Share of the elements for which near(expected, actual) holds.
template <class Near>
double share_of(Floats expected, Floats actual, const Near& near) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) count += near(static_cast<double>(expected[i]), static_cast<double>(actual[i])) ? 1U : 0U;
  return static_cast<double>(count) / static_cast<double>(expected.size());
}

/// Share within absolute + relative * |reference|, where the suite calls one of the two its reference.
double share_close(Floats reference, Floats other, double absolute, double relative) {
  return share_of(reference, other, [&](double a, double b) { return std::abs(a - b) <= absolute + relative * std::abs(a); });
}

double largest(Floats values) {
  double top = 0;
  for (const float value : values) top = std::max(top, std::abs(static_cast<double>(value)));
  return top;
}

/// Sum of products in double.
double inner(Floats a, Floats b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// 1 - 2 xy / (xx + yy) over the whole tensor.
bool similar(Floats expected, Floats actual, double limit) {
  const double power = inner(expected, expected) + inner(actual, actual);
  return 1 - 2 * inner(expected, actual) / power < limit;
}

bool signal_above(Floats expected, Floats actual, double decibels) {
  double noise = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = static_cast<double>(expected[i]) - static_cast<double>(actual[i]);
    noise += difference * difference;
  }
  return 10 * std::log10(inner(expected, expected) / noise) >= decibels;
}

// vLLM bounds by the result that it tests: one that is too large widens its own bound.
bool vllm_ocp_mx(Floats expected, Floats actual) { return share_close(actual, expected, 0, 0.3) >= 0.8; }
bool vllm_modular(Floats expected, Floats actual) { return share_close(expected, actual, 3e-2, 3e-2) == 1; }
bool flashinfer_trtllm(Floats expected, Floats actual) { return share_close(expected, actual, 0.1, 0.85) >= 0.8; }
bool flashinfer_cutlass(Floats expected, Floats actual) {
  return share_close(expected, actual, 1, 0) >= 0.95 && share_close(expected, actual, 3, 0) == 1;
}
bool flashinfer_fuzzer(Floats expected, Floats actual) { return share_close(expected, actual, 0.15 * largest(expected), 0.85) == 1; }
bool aiter(Floats expected, Floats actual) { return share_close(expected, actual, 1e-2, 1e-2) >= 0.95; }
bool deepgemm_fp8(Floats expected, Floats actual) { return similar(expected, actual, 1e-3); }
bool deepgemm_fp4(Floats expected, Floats actual) { return similar(expected, actual, 0.02); }
bool torchao_mxfp8(Floats expected, Floats actual) { return signal_above(expected, actual, 25); }
bool torchao_mxfp4(Floats expected, Floats actual) { return signal_above(expected, actual, 12); }

bool same_bits(Floats expected, Floats actual) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(expected[i]) != std::bit_cast<std::uint32_t>(actual[i])) return false;
  }
  return true;
}

constexpr std::array kTolerances{
    Tolerance{"vllm ocp_mx", "80 % within 0.3 of the tested result", vllm_ocp_mx, "vllm tests/kernels/moe/test_ocp_mx_moe.py check_accuracy"},
    Tolerance{"vllm modular", "all within 0.03 + 0.03 |x|", vllm_modular, "vllm tests/kernels/moe/test_modular_kernel_combinations.py"},
    Tolerance{"flashinfer trtllm", "80 % within 0.1 + 0.85 |x|", flashinfer_trtllm, "flashinfer tests/moe/test_trtllm_gen_fused_moe.py, loosest"},
    Tolerance{"flashinfer cutlass", "95 % within 1, all within 3", flashinfer_cutlass,
              "flashinfer tests/moe/test_trtllm_cutlass_fused_moe.py, MXFP8 x MXFP4"},
    Tolerance{"flashinfer fuzzer", "all within 0.15 max|x| + 0.85 |x|", flashinfer_fuzzer, "flashinfer's MoE fuzzer, loosest"},
    Tolerance{"aiter", "95 % within 0.01 + 0.01 |x|", aiter, "aiter aiter/test_common.py checkAllclose"},
    Tolerance{"deepgemm fp8", "1 - 2xy / (xx + yy) below 0.001", deepgemm_fp8, "DeepGEMM deep_gemm/testing calc_diff"},
    Tolerance{"deepgemm fp4", "1 - 2xy / (xx + yy) below 0.02", deepgemm_fp4, "DeepGEMM deep_gemm/testing calc_diff, FP4"},
    Tolerance{"torchao mxfp8", "25 dB of signal to noise", torchao_mxfp8, "torchao test/prototype/mx_formats, compute_error"},
    Tolerance{"torchao mxfp4", "12 dB of signal to noise", torchao_mxfp4, "torchao test/prototype/mx_formats, compute_error"},
    Tolerance{"bits", "every bit equal", same_bits, "this harness"},
};

}  // namespace

std::span<const Tolerance> all_tolerances() { return kTolerances; }

}  // namespace mx::props
