"""Drawn checkpoints: what the reader makes of their files is what they say they hold."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import mxact
from mxact.testing import Checkpoint, checkpoints

FORMS = {"gpt-oss": "MARLIN", "fp8-block": "TRITON", "modelopt-nvfp4": "MARLIN"}


@pytest.mark.parametrize("form", FORMS)
def test_a_layer_of_the_file_is_the_layer_that_was_drawn(form: str) -> None:
    packed = 0

    @given(checkpoints(form))
    @hypothesis_settings(max_examples=12)
    def check(model: Checkpoint) -> None:
        nonlocal packed
        with tempfile.TemporaryDirectory() as folder:
            path = model.write(Path(folder) / "model")
            for number, layer in enumerate(model.layers):
                by_path = mxact.pack(path, FORMS[form], layer=number, platform="sm90")
                by_hand = mxact.pack(layer, FORMS[form], platform="sm90", format=model.format, order=model.order, padded=_padded(by_path))
                assert by_path.tensors.keys() == by_hand.tensors.keys()
                for name, values in by_path.tensors.items():
                    assert np.array_equal(values.view(np.uint8), by_hand[name].view(np.uint8)), name
                packed += 1

    check()
    assert packed >= 12


def _padded(packed: mxact.Packed) -> str:
    """The sizes that the engine rounds to, which a layer without its engine does not say."""
    found = re.search(r"padded=(\d+x\d+)", packed.spec)
    assert found is not None, packed.spec
    return found[1]


def test_an_unknown_form_is_named() -> None:
    with pytest.raises(mxact.Error) as caught:
        checkpoints("gptq")
    assert str(caught.value) == "form is 'gptq', must be one of gpt-oss, fp8-block, modelopt-nvfp4"
