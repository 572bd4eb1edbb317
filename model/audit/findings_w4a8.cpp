// The ledger of the w4a8 oracle: see findings.hpp.

#include <array>

#include "model/audit/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array kFindings = {
    Finding{"w4a8", "any", "", "exchange",
            "oracle w4a8 platform SM90 parallel { dp 2 expert_parallel true all2all naive } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"w4a8", "any", "", "even_exchange",
            "oracle w4a8 platform SM90 parallel { dp 3 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"w4a8", "any", "", "weight_of_one",
            "oracle w4a8 platform SM90 layer { experts 4 top_k 2 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"w4a8", "any", "", "mori_weight",
            "oracle w4a8 platform SM90 parallel { dp 2 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false router_weight_on_input true }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "weight_twice",
            "oracle w4a8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "device",
            "oracle w4a8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "sizes",
            "oracle w4a8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 384 bias false }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "rows",
            "oracle w4a8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 683 bias false }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "one_sided",
            "oracle w4a8 platform SM90 parallel { dp 2 expert_parallel true all2all flashinfer_nvlink_one_sided } layer { experts 4 top_k 1 hidden "
            "2048 intermediate 2048 bias false }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "bias",
            "oracle w4a8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 }"},
    Finding{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "constants",
            "oracle w4a8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
};

}  // namespace

std::span<const Finding> w4a8_findings() { return kFindings; }

}  // namespace mx::oracle
