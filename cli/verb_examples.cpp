#include "cli/verb_examples.hpp"

#include <array>

namespace mx::cli {
namespace {

constexpr std::array kExamples{
    VerbExample{"verify", "mxact verify MODEL --platform SM100 --tp 1"},
    VerbExample{"verify merge", "mxact verify merge FIRST.json SECOND.json"},
    VerbExample{"select", "mxact select MODEL --platform B200 --tp 8"},
    VerbExample{"matrix", "mxact matrix --model gpt-oss-120b --scheme mxfp4 --parallel tp8"},
    VerbExample{"engine", "mxact engine list"},
    VerbExample{"engine list", "mxact engine list"},
    VerbExample{"engine diff", "mxact engine diff vllm@2026-05 vllm@2026-08"},
    VerbExample{"audit", "mxact audit --oracle nvfp4"},
    VerbExample{"layout", "mxact layout where sf_128x4 --shape 100x6 --coord rows=5,cols=1"},
    VerbExample{"layout list", "mxact layout list --backend MARLIN --engine 2026-08"},
    VerbExample{"layout show", "mxact layout show sf_128x4 --shape 100x6"},
    VerbExample{"layout where", "mxact layout where TRITON --format mxfp4 --tensor w2_weight --shape 2x256x256 --coord E=1,N=4,K=3"},
    VerbExample{"layout draw", "mxact layout draw sf_128x4 --shape 100x4 -o tile.svg"},
    VerbExample{"layout diff", "mxact layout diff sf_128x4 sf_8x4 --shape 128x8"},
    VerbExample{"layout identify", "mxact layout identify CHECKPOINT.safetensors:TENSOR DUMP.bin"},
    VerbExample{"inspect", "mxact inspect MODEL --deep"},
    VerbExample{"convert", "mxact convert MODEL --backend MARLIN --platform sm90 -o OUT"},
    VerbExample{"restore", "mxact restore CONVERTED -o OUT"},
    VerbExample{"plan", "mxact plan MODEL --backend MARLIN --platform sm90 --converted OUT -o plan.json"},
    VerbExample{"run", "mxact run PLAN.json --job 0,1"},
    VerbExample{"merge", "mxact merge PLAN.json"},
    VerbExample{"layer", "mxact layer MODEL --platform B200 --layer 0 --x x.npy --router -o stages.safetensors"},
    VerbExample{"witness", "mxact witness golden/witness/numerics/decode"},
    VerbExample{"sim", "mxact sim docs/examples/sim-b200.info"},
    VerbExample{"study", "mxact study --rules --format mxfp6_e2m3"},
    VerbExample{"formats", "mxact formats --format e2m1"},
    VerbExample{"encode", "mxact encode e4m3fn 1000 -0.001 --profile torch-cpu"},
    VerbExample{"decode", "mxact decode mxfp4 --scale 0x77 0x7"},
    VerbExample{"quantize", "mxact quantize mxfp4 $(seq 1 32)"},
    VerbExample{"compare", "mxact compare ml_dtypes cuda-satfinite e4m3fn --from bf16"},
    VerbExample{"sweep", "mxact sweep e4m3fn --profile ptx-satfinite --shard 1/256"},
    VerbExample{"sweep merge", "mxact sweep merge FIRST SECOND --out WHOLE.bin"},
    VerbExample{"gen", "mxact gen e2m1_to_bf16"},
    VerbExample{"ver", "mxact gen e2m1_to_bf16 --no-header | DEVICE | mxact ver e2m1_to_bf16"},
    VerbExample{"coverage", "mxact coverage merge FIRST.json SECOND.json"},
    VerbExample{"coverage merge", "mxact coverage merge FIRST.json SECOND.json -o coverage.html"},
    VerbExample{"report", "mxact report docs/examples/report/doctor.json -o report.html"},
    VerbExample{"vectors", "mxact vectors --edition v1 --core --check golden"},
    VerbExample{"laws", "mxact laws quantizer mxfp4 --profile ocp -- ./my_quantizer"},
    VerbExample{"laws quantizer", "mxact laws quantizer mxfp4 --profile ocp -- ./my_quantizer"},
    VerbExample{"laws converter", "mxact laws converter MARLIN --format mxfp4 --order standard -- ./my_converter"},
    VerbExample{"laws oracle", "mxact laws oracle --engine vllm@2026-05 -- ./my_oracle"},
    VerbExample{"laws power", "mxact laws power --format mxfp4 --activation SILU -- ./my_comparison"},
    VerbExample{"laws batch", "mxact laws batch --format mxfp4 --activation SILU -- ./my_kernel"},
    VerbExample{"laws kernel", "mxact laws kernel --order-proof --activation SILU --format mxfp4 --no-bias -- ./my_kernel"},
    VerbExample{"faults", "mxact faults oracle_ignores_wish"},
    VerbExample{"doctor", "mxact doctor"},
    VerbExample{"help", "mxact help layouts"},
    VerbExample{"completion", "mxact completion zsh"},
    VerbExample{"manual", "mxact manual"},
};

}  // namespace

std::span<const VerbExample> verb_examples() { return kExamples; }

}  // namespace mx::cli
