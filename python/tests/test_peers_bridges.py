"""An FP8 checkpoint that transformers turns into bf16 as it loads it on a CPU: the copy that it saves is explained, a sound one as a rounding alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import program

ROUNDED = "one is the other, rounded to the numbers of its file"
CUT = "blocks cut at rows / ceil(rows / 128) and columns / ceil(columns / 128) instead of 128, rounded to bf16: transformers 5.24 without a GPU (finegrained_fp8.py _dequantize_one)"


def written(folder: Path, rows: int) -> None:
    """Experts of Qwen3-MoE of so many rows in FP8, a scale for each block of 128 x 128."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers", exc_type=ImportError)
    save = pytest.importorskip("safetensors.torch").save_file
    sizes = {"hidden_size": 256, "intermediate_size": 256, "moe_intermediate_size": rows, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 128}
    config = transformers.Qwen3MoeConfig(**sizes, vocab_size=8, num_experts=2, num_experts_per_tok=1)
    torch.manual_seed(rows)
    state: dict[str, Any] = {}
    for name, weight in transformers.Qwen3MoeForCausalLM(config).to(torch.bfloat16).state_dict().items():
        if name.endswith("experts.gate_up_proj"):
            halves = {"gate_proj": weight[:, :rows], "up_proj": weight[:, rows:]}
        elif name.endswith("experts.down_proj"):
            halves = {"down_proj": weight}
        else:
            state[name] = weight.clone()
            continue
        for half, of_all in halves.items():
            state |= {f"{name.rpartition('.')[0]}.{expert}.{half}.weight": of_one.clone() for expert, of_one in enumerate(of_all)}
    for name in [name for name in state if "_proj" in name]:
        height, width = state[name].shape
        state[name] = torch.randn(height, width).mul(100).clamp(-448, 448).to(torch.float8_e4m3fn)
        state[name + "_scale_inv"] = torch.rand(-(-height // 128), -(-width // 128)) + 0.5
    folder.mkdir()
    save(state, folder / "model.safetensors", metadata={"format": "pt"})
    scheme = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
    words = {"architectures": ["Qwen3MoeForCausalLM"], "dtype": "bfloat16", "quantization_config": scheme}
    (folder / "config.json").write_text(json.dumps(config.to_dict() | words))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("rows", "cause"), [(256, ROUNDED), (192, CUT)])
def test_a_copy_that_transformers_made_is_explained(tmp_path: Path, rows: int, cause: str) -> None:
    first, second = tmp_path / "fp8", tmp_path / "bf16"
    written(first, rows)
    pytest.importorskip("transformers").AutoModelForCausalLM.from_pretrained(first).save_pretrained(second)
    words = json.loads((second / "config.json").read_text())
    words.pop("quantization_config", None)
    (second / "config.json").write_text(json.dumps(words))
    told = program("compare", str(first), str(second), status=1)
    causes = {one["tensor"]: one["cause"] for one in told["differences"]}
    experts = {name: of for name, of in causes.items() if ".experts." in name}
    assert len(experts) == 6 and set(experts.values()) == {cause}
    # Attention has 256 rows in both.
    assert {of for name, of in causes.items() if ".experts." not in name} == {ROUNDED}
