#!/usr/bin/env bash
# version: nvidia-modelopt 0.47.0, torch 2.13.0, transformers 5.24.0
# source: NVIDIA/Model-Optimizer, modelopt/torch/export/quant_utils.py, to_quantized_weight; modelopt/torch/quantization/tensor_quant.py, _fp8_eager
# behaviour: a bf16 model is evaluated with weights e4m3(w * (448 / amax)) in fp32; export_hf_checkpoint writes e4m3(bf16(w / scale)), for a scale of no axes does
#   not widen bf16: the quotient is rounded once more. One weight in 27 is shipped as another code than the one whose accuracy was measured.
# seen: 2026-11-29
# | q_proj: 200 of 4096 weights are not those that were evaluated
# | up_proj: 242 of 8192 weights are not those that were evaluated
# | all 7 matrices: 1489 of 40960
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps nvidia-modelopt==0.47.0 transformers==5.24.0 huggingface_hub==2.4.0 tokenizers==0.23.3 \
  safetensors==0.8.0 numpy==2.4.6 PyYAML==6.0.4 regex==2026.11.19 packaging==26.4 tqdm==4.70.1 httpx==0.28.1 httpcore==1.0.9 httpx2==2.16.2 httpcore2==2.16.2 truststore==0.10.5 \
  h11==0.16.0 anyio==4.16.0 idna==3.20 certifi==2026.10.19.post1 typer==0.29.2 click==8.5.1 rich==15.0.0 hf-xet==1.8.0 accelerate==1.15.0 psutil==7.2.2 omegaconf==2.4.0 \
  PuLP==3.3.2 pydantic==2.14.4 pydantic_core==2.50.5 typing-inspection==0.4.5 annotated-types==0.8.0 scipy==1.17.1 nvidia-ml-py==13.615.71 ninja==1.13.2 Pygments==2.21.0 \
  markdown-it-py==4.3.0 mdurl==0.1.2 requests==2.34.2 urllib3==2.8.0 charset-normalizer==3.5.3
export HF_HUB_OFFLINE=1 TORCH_EXTENSIONS_DIR=$work/extensions
"$work/venv/bin/python" -W ignore - "$work/exported" "$work/printed" > "$work/said" 2>&1 <<'PY' || { cat "$work/said"; exit 1; }
import pathlib
import sys

import modelopt.torch.quantization as mtq
import numpy as np
import torch
from modelopt.torch.export import export_hf_checkpoint
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=4, vocab_size=64, architectures=["LlamaForCausalLM"])
model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
random = np.random.default_rng(0)
with torch.no_grad():
    for weight in model.parameters():
        weight.copy_(torch.from_numpy(random.standard_normal(tuple(weight.shape)) / 50))
model = mtq.quantize(model, mtq.FP8_DEFAULT_CFG, lambda model: model(torch.arange(16)[None]))
evaluated = {
    name: module.weight_quantizer(module.weight).detach().clone()
    for name, module in model.named_modules()
    if hasattr(module, "weight_quantizer") and module.weight_quantizer.is_enabled
}
export_hf_checkpoint(model, export_dir=sys.argv[1])
shipped = load_file(pathlib.Path(sys.argv[1]) / "model.safetensors")
differ = {}
for name, weight in evaluated.items():
    back = shipped[name + ".weight"].float() * shipped[name + ".weight_scale"]
    differ[name] = int((back.to(torch.bfloat16) != weight).sum()), weight.numel()
with open(sys.argv[2], "w") as printed:
    for name in ("q_proj", "up_proj"):
        [(wrong, every)] = [count for key, count in differ.items() if key.endswith(name)]
        print(f"{name}: {wrong} of {every} weights are not those that were evaluated", file=printed)
    print(f"all {len(differ)} matrices:", sum(wrong for wrong, _ in differ.values()), "of", sum(every for _, every in differ.values()), file=printed)
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
