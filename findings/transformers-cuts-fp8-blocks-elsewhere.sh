#!/usr/bin/env bash
# version: transformers 5.24.0, torch 2.13.0, safetensors 0.8.0 (CPU: FP8 weights are turned into bf16 as they are loaded)
# source: huggingface/transformers, src/transformers/integrations/finegrained_fp8.py, Fp8Dequantize._dequantize_one
# behaviour: a checkpoint says blocks of 128 x 128, and by DeepSeek-V3's README_WEIGHTS the last block of a side is cut short. Loaded without a GPU the block's
#   size is rows divided by scales instead: 192 rows are cut at 96, 448 at every 112, without a word, and a quarter of the weights get another scale; where the
#   division leaves a rest (576) the same form is refused. Experts of 192 rows are published (Qwen3 in eight parts).
# seen: 2026-11-29
# | 256 rows, scales 1 and 2: 128 128 rows of each
# | 192 rows, scales 1 and 2: 96 96 rows of each
# | 448 rows, scales 1, 2, 4 and 8: 112 112 112 112 rows of each
# | 576 rows: RuntimeError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps transformers==5.24.0 huggingface_hub==2.4.0 tokenizers==0.23.3 safetensors==0.8.0 numpy==2.4.6 PyYAML==6.0.4 regex==2026.11.19 packaging==26.4 tqdm==4.70.1 httpx==0.28.1 httpcore==1.0.9 httpx2==2.16.2 httpcore2==2.16.2 truststore==0.10.5 h11==0.16.0 anyio==4.16.0 idna==3.20 certifi==2026.10.19.post1 typer==0.29.2 click==8.5.1 rich==15.0.0 hf-xet==1.8.0 accelerate==1.15.0 psutil==7.2.2
HF_HUB_OFFLINE=1 "$work/venv/bin/python" -W ignore - "$work" > "$work/printed" 2> "$work/said" <<'PY'
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM


def written(folder, rows):
    """A Llama of one layer whose FP8 numbers are 1 and whose block scales are 1, 2, 4, ..."""
    config = LlamaConfig(hidden_size=128, intermediate_size=rows, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, vocab_size=8)
    state = {name: weight.clone() for name, weight in LlamaForCausalLM(config).to(torch.bfloat16).state_dict().items()}
    for name in [name for name in state if "_proj" in name]:
        height, width = state[name].shape
        state[name] = torch.ones(height, width).to(torch.float8_e4m3fn)
        state[name + "_scale_inv"] = 2.0 ** torch.arange(-(-height // 128)).float()[:, None].repeat(1, -(-width // 128))
    folder.mkdir()
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    scheme = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
    words = {"architectures": ["LlamaForCausalLM"], "dtype": "bfloat16", "quantization_config": scheme}
    (folder / "config.json").write_text(json.dumps(config.to_dict() | words))
    return folder


for rows, scales in ((256, "1 and 2"), (192, "1 and 2"), (448, "1, 2, 4 and 8"), (576, "")):
    try:
        model = AutoModelForCausalLM.from_pretrained(written(pathlib.Path(sys.argv[1]) / str(rows), rows))
        column = model.model.layers[0].mlp.gate_proj.weight[:, 0].tolist()
        print(f"{rows} rows, scales {scales}:", *(column.count(scale) for scale in sorted(set(column))), "rows of each")
    except RuntimeError as problem:
        print(f"{rows} rows: {type(problem).__name__}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
