"""Memory of large results, which a later result takes when nothing refers to it any more: whoever still does, in whatever way, keeps it."""

from __future__ import annotations

import os
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import mxact

Array = np.ndarray[Any, np.dtype[Any]]
COUNT = 1 << 21  # numbers of fp32: twice what is large


def numbers(seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(COUNT, dtype=np.float32)


def test_a_pickle_has_its_own() -> None:
    x = numbers(0)
    q = mxact.quantize(x.reshape(-1, 32).repeat(4, 0), "mxfp4")
    codes, text = q.codes.tobytes(), pickle.dumps(q)
    del q
    again = pickle.loads(text)
    others = [mxact.quantize(numbers(seed).reshape(-1, 32).repeat(4, 0), "mxfp4") for seed in (1, 2)]
    assert again.codes.tobytes() == codes
    assert all(other.codes.tobytes() != codes for other in others)
    assert not any(np.shares_memory(again.codes, other.codes) for other in others)


def test_threads_that_make_and_drop_results_never_share_one() -> None:
    """Results are looked at after others came and went."""
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = numbers(seed)
        expected = x.astype(np.float16).tobytes()
        for turn in range(12):
            result = mxact.convert(x, "fp16")
            kept = result[: COUNT // 2] if turn % 3 else result
            del result
            mxact.convert(x, "f32")
            if kept.tobytes() != expected[: kept.nbytes]:
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_a_forked_child_has_its_own() -> None:
    x = numbers(3)
    result = mxact.convert(x, "f32")
    del result
    child = os.fork()
    if child == 0:
        mine = mxact.convert(x * 2, "f32")
        os._exit(0 if np.array_equal(mine, x * 2) else 1)
    theirs = mxact.convert(x * 3, "f32")
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(theirs, x * 3)


def test_a_tensor_of_torch_keeps_it() -> None:
    torch = pytest.importorskip("torch")
    x = numbers(4)
    tensor = mxact.convert(torch.from_numpy(x), "f32")
    part = tensor[5:]
    array = torch.from_numpy(mxact.convert(x * 2, "f32"))
    del tensor
    for seed in (5, 6, 7):
        other = numbers(seed)
        assert np.array_equal(mxact.convert(other, "f32"), other)
    assert np.array_equal(part.numpy(), x[5:])
    assert np.array_equal(array.numpy(), x * 2)
    place = part.data_ptr() - 5 * part.element_size()
    del part
    again = mxact.convert(x * 3, "f32")
    assert again.ctypes.data == place
    assert np.array_equal(again, x * 3)
