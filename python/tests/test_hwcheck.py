"""The kit for cards, without one: recorded answers of an H100, cards that are made up, and cards that are wrong on purpose."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxact
from conftest import PROGRAM, SOURCE
from mxact.hwcheck import _hold as held_module
from mxact.hwcheck import record, rules
from mxact.hwcheck.__main__ import main
from mxact.hwcheck._casts import inputs_of, search_cast
from mxact.hwcheck._hold import CHANGED, FAILED, FOLLOWS, MISTRUSTED, NONE, SKIPPED, Answer, Run, Settings, hold
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import CastQuestion, FunctionQuestion, NotHere, Question
from mxact.hwcheck._recorded import RecordedSet, hold_recorded, write
from mxact.hwcheck._report import issue, page, text
from mxact.hwcheck._rules import instruction_rule
from mxact.hwcheck._ways import PAIRS, QUADS, Way, answer, fields_of, name_of, named

LIBRARIES = SOURCE / "golden/witness/hardware/gpu_peers_h100"
Array = np.ndarray[Any, np.dtype[Any]]


def made_up(way: Way, a: str = "bf16", to: str = "f32", k: int = 256, m: int = 16, n: int = 24, rule: str = "", **words: Any) -> Question:
    """A card that computes as the way says."""
    b = words.pop("b", a)

    def ask(case: Case) -> Array:
        return answer(way, case, (a, b), to)

    return Question("made-up", "libraries", "made-up", "product", a, b, to, k, m, n, ask, rule, **words)


def one(question: Question, seconds: float = 60, seed: int = 0) -> Answer:
    (found,) = hold([question], Settings(seed=seed, seconds=seconds, unit="90")).answers
    return found


# What a set says of a product, and what the search must have found without reading it: the way's text begins so.
RECORDED = [
    ("scaled_mm.tensor.e4e4.fast", "hopper-fp8;"),
    ("scaled_mm.tensor.e5e4.slow", "hopper-fp8-promoted;"),
    ("scaled_mm.rows.m128.fast", "hopper-fp8; scales=total-b-a"),
    ("scaled_mm.rows.m128.slow", "hopper-fp8-promoted; scales=total-b-a"),
    ("scaled_mm.block.1x128.k512", "hopper-fp8-promoted; scales=chain"),
    ("scaled_mm.block.1x1.k512", "hopper-fp8-promoted; scales=chain-one-by-one"),
    ("scaled_mm.block.128x1.k512", "hopper-fp8-promoted; scales=chain"),
    ("mm.bf16.f32", "hopper-bf16"),
    ("mm.fp16.f32", "hopper-fp16"),
    ("mm.bf16.split.f32", "hopper-bf16; pieces of 1408, joined ascending"),
    ("mm.fp16.fp16_accumulators", "hopper-f16-f16"),
    ("mm.bf16.n1001.f32", "cublas-bf16-odd:restart=64"),
    ("triton.dot.acc", "hopper-fp8"),
    ("triton.dot.added.step64", "hopper-fp8:restart=64"),
    ("triton.dot.imprecise32", "hopper-fp8:restart=32"),
    ("triton.dot.imprecise96", "hopper-fp8; chains of 96 anew at each 128"),
    ("triton.dot.imprecise0", "hopper-fp8-as-fp16"),
    ("triton.dot.rows16.added", "hopper-fp8-as-fp16-block"),
    ("triton.dot_scaled.e2m1.bf16.quads", "hopper-bf16:order="),
    ("triton.dot_scaled.e2m1.fp16.ascending", "hopper-fp16; operands times scales as fp16"),
    ("jax.dot.k512", "hopper-bf16:restart=64"),
    ("jax.dot.m1", "fp32 products, runs of 4, 32 lanes, 1 warps"),
    ("jax.dot.m1.bf16", "fp32 products, runs of "),
]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiles are small: threads that wait for each other cost more than they do."""
    before = mxact.threads()
    mxact.threads(1)
    yield
    mxact.threads(before)


@pytest.fixture(scope="module")
def recorded() -> Run:
    wanted = {name for name, _ in RECORDED}
    return hold_recorded(RecordedSet(LIBRARIES), Settings(seconds=120), lambda name: name in wanted)


def test_every_way_of_the_recordings_is_found_from_their_values_alone(recorded: Run) -> None:
    found = {row.name: row for row in recorded.answers}
    for name, begins in RECORDED:
        row = found[name]
        assert row.verdict == FOLLOWS, (name, row.verdict, row.way, row.differ)
        ways = [row.way, *row.also]
        assert any(way.startswith(begins) for way in ways), (name, ways)


def test_the_recorded_answers_are_written_and_read_by_the_program(recorded: Run, tmp_path: Path) -> None:
    count = write(recorded, tmp_path / "set", {"device": "a card that nobody knows", "unit": "90", "driver": "1.2"})
    assert count == len(RECORDED)
    done = subprocess.run([PROGRAM, "witness", str(tmp_path / "set")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text())
    assert manifest["entries"][0]["profile"]["device"] == "a card that nobody knows" and "driver 1.2" in manifest["entries"][0]["profile"]["version"]
    # A value that is changed afterwards is seen.
    entry = next(row for row in manifest["entries"] if row["id"] == "mm.bf16.f32")
    path = tmp_path / "set" / entry["outputs"]["d"]["file"]
    values = bytearray(path.read_bytes())
    values[0] ^= 1
    path.write_bytes(values)
    assert subprocess.run([PROGRAM, "witness", str(tmp_path / "set")], capture_output=True, check=False).returncode == 1
    with pytest.raises(FileExistsError):
        write(recorded, tmp_path / "set", {})


WAYS = [
    (named("hopper-bf16"), "bf16", {}),
    (named("ampere-f16"), "fp16", {}),
    (named("hopper-tf32"), "tf32", {"k": 64}),
    (named("hopper-fp8", scales="total-plus-zero"), "e4m3fn", {"scaling": "tensor"}),
    (named("hopper-fp8-promoted", scales="total-b-a"), "e5m2", {"scaling": "col_row"}),
    (named("hopper-fp8:restart=128", scales="chain-b-first"), "e4m3fn", {"scaling": "block_1x128_1x128"}),
    (named("hopper-bf16", piece_k=64, join="halves"), "bf16", {}),
    (Way(named(f"hopper-bf16:order={QUADS}").core, upcast="bf16"), "e2m1", {"b": "bf16", "scaling": "e8m0_shift"}),
    (named("hopper-bf16", turns=3, turn_k=64), "bf16", {}),
    (named("hopper-fp16", turns=4, turn_k=32, turn_join="warps", piece_k=128, join="descending"), "fp16", {}),
    (named("hopper-mma-fp8"), "e4m3fn", {"k": 32, "c": "f32", "part": "instructions"}),
]


@pytest.mark.parametrize(("way", "format", "words"), WAYS, ids=[way.text()[:40] for way, _, _ in WAYS])
def test_who_computes_as_a_way_says_is_found(way: Way, format: str, words: dict[str, Any]) -> None:
    words.pop("part", None)
    row = one(made_up(way, format, **words))
    assert row.verdict == FOLLOWS, (row.verdict, row.way, row.why)
    assert way.text() in [row.way, *row.also], (way.text(), row.way, row.also)
    assert row.controls["repeat"] == "same" and row.controls["nibble"] == "shows" and row.controls.get("scale", "shows") == "shows"


# Arithmetic that no contract of the table has: the record itself must be found, field by field.
@pytest.mark.parametrize("record", ["hopper-bf16:align=22", "hopper-bf16:keep=22", "hopper-fp8:align=15:keep=15", "ampere-f16:group=16:align=21"])
def test_where_no_name_fits_the_record_is_found(record: str) -> None:
    format = "e4m3fn" if "fp8" in record else "fp16" if "f16:" in record and "bf16" not in record else "bf16"
    row = one(made_up(named(record), format, k=128), seconds=240)
    assert row.verdict == FOLLOWS, (row.way, row.differ, row.tried)
    found, right = fields_of(row.contract), fields_of(named(record).core)
    assert [found.get(key) for key in ("group", "align", "keep", "order")] == [right.get(key) for key in ("group", "align", "keep", "order")], row.way


def test_a_wrong_contract_in_the_card_is_not_what_is_known() -> None:
    """The rule of torch's bf16 products, and a card that aligns one bit less."""
    row = one(made_up(named("hopper-bf16:align=24"), rule="torch.bf16"), seconds=240)
    assert row.verdict == CHANGED and "align=24" in row.contract.split(":") and row.known.startswith("hopper-bf16")
    right = one(made_up(named("hopper-bf16"), rule="torch.bf16"))
    assert right.verdict == FOLLOWS and right.known == right.way == "hopper-bf16" and "gpu_peers_h100" in right.known_by


def test_a_wrong_contract_in_the_model_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recordings are the card's: a model that keeps a bit less follows none of them by its name."""
    from mxact.hwcheck import _ways

    right = _ways.matmul

    def planted(a: Any, b: Any, contract: Any, **words: Any) -> Any:
        return right(a, b, str(contract).replace("align=25", "align=24").replace("align=13", "align=12"), **words)

    monkeypatch.setattr(_ways, "matmul", planted)
    run = hold_recorded(RecordedSet(LIBRARIES), Settings(seconds=3), lambda name: name in ("mm.fp16.f32", "triton.dot.acc"))
    assert {row.name for row in run.answers} >= {"mm.fp16.f32", "triton.dot.acc"}
    for row in run.answers:
        assert row.verdict != FOLLOWS, row.way
        assert row.verdict == NONE or row.way not in ("hopper-fp16", "hopper-fp8", "hopper-f16"), row.way


def test_what_nobody_computes_has_a_smallest_counterexample() -> None:
    def odd(case: Case) -> Array:
        values = answer(named("hopper-bf16"), case, ("bf16", "bf16"), "f32")
        return (values.view(np.uint32) ^ np.uint32(1)).view(np.float32)

    question = replace(made_up(named("hopper-bf16"), k=64), ask=odd)
    row = one(question, seconds=5)
    assert row.verdict == NONE and row.differ > 0
    # One product is left, and no more than that.
    assert "by the nearest way 0x" in row.smallest and row.smallest.count(" * ") <= 1, row.smallest


def test_data_that_could_not_tell_is_not_trusted() -> None:
    calls = [0]

    def restless(case: Case) -> Array:
        calls[0] += 1
        values = answer(named("hopper-bf16"), case, ("bf16", "bf16"), "f32")
        return values if calls[0] == 1 else np.negative(values)

    row = one(replace(made_up(named("hopper-bf16")), ask=restless), seconds=3)
    assert row.verdict == MISTRUSTED and row.why == "the same call gave other bits"

    first: list[Array] = []

    def deaf(case: Case) -> Array:
        """It answers the first call for ever."""
        if not first:
            first.append(answer(named("hopper-bf16"), case, ("bf16", "bf16"), "f32"))
        return first[0]

    row = one(replace(made_up(named("hopper-bf16")), ask=deaf, batched=False), seconds=3)
    assert row.verdict == MISTRUSTED and row.why == "a wrong nibble changed nothing"
    row = one(replace(made_up(named("hopper-fp8", scales="total-plus-zero"), "e4m3fn", scaling="tensor"), ask=lambda case: np.zeros((16, 24), np.float32), batched=False), seconds=3)
    assert row.verdict in (MISTRUSTED, NONE)


def test_a_row_alone_that_differs_is_told() -> None:
    def split_when_alone(case: Case) -> Array:
        way = named("hopper-bf16", piece_k=128) if case.a.shape[0] == 1 else named("hopper-bf16")
        return answer(way, case, ("bf16", "bf16"), "f32")

    row = one(replace(made_up(named("hopper-bf16")), ask=split_when_alone))
    assert row.verdict == FOLLOWS and row.controls["batch"].startswith("differs: ")
    assert one(made_up(named("hopper-bf16"))).controls["batch"] == "same"


def test_what_cannot_be_asked_is_skipped_and_what_breaks_is_failed() -> None:
    def absent(case: Case) -> Array:
        raise NotHere("no such instruction")

    def broken(case: Case) -> Array:
        raise RuntimeError("it broke")

    base = made_up(named("hopper-bf16"))
    some = [replace(base, ask=absent), replace(base, ask=broken), replace(base, ask=lambda case: np.zeros((2, 2), np.float32))]
    rows = hold(some, Settings()).answers
    assert [row.verdict for row in rows] == [SKIPPED, FAILED, FAILED]
    assert rows[0].why == "no such instruction" and "it broke" in rows[1].why and "must be" in rows[2].why
    assert hold([base], Settings(limit=0)).answers[0].verdict == SKIPPED
    small = hold([base], Settings(free_bytes=lambda: 1000)).answers[0]
    assert small.verdict == SKIPPED and "1000 are free" in small.why


def test_the_same_seed_asks_the_same() -> None:
    def inputs(seed: int) -> bytes:
        seen: list[bytes] = []

        def ask(case: Case) -> Array:
            seen.append(case.a.tobytes() + case.b.tobytes())
            return answer(named("hopper-bf16"), case, ("bf16", "bf16"), "f32")

        one(replace(made_up(named("hopper-bf16")), ask=ask), seed=seed)
        return b"".join(seen)

    assert inputs(1) == inputs(1) != inputs(2)


def test_casts_are_read_off_their_answers() -> None:
    for profile, to, words in (
        ("ocp", "e4m3fn", {"rounding": "nearest_even", "overflow": "saturate", "nan_pos": "0x7F"}),
        ("ocp-nosat", "e4m3fn", {"rounding": "nearest_even", "overflow": "nan"}),
        ("ocp-nosat", "e5m2", {"rounding": "nearest_even", "overflow": "inf"}),
    ):
        question = CastQuestion("cast", "casts", "made-up", "cast", "f32", to, lambda x: x)
        x = inputs_of(question, np.random.default_rng(0))
        found = search_cast(question, x, mxact.convert(x, to, profile))
        assert found.words.items() >= words.items() and profile in found.profiles and found.different == 0, found.words
    question = CastQuestion("cast", "casts", "made-up", "cast", "f32", "e4m3fn", lambda x: x)
    x = inputs_of(question, np.random.default_rng(0))
    codes = mxact.convert(x, "e4m3fn", "ocp")
    truncated = np.where(x == np.float32(1.0625), np.array(0x39, np.uint8).view(codes.dtype), codes)
    found = search_cast(question, x, truncated)
    assert found.different > 0 and found.first.startswith("1.0625 gives 0x39") and not found.words


def test_a_cast_that_does_not_do_what_is_known_has_changed() -> None:
    asked = CastQuestion("cast", "casts", "torch", "cast", "bf16", "e4m3fn", lambda x: mxact.convert(x, "e4m3fn", "ocp-nosat"), "inductor.bf16.e4m3fn")
    (row,) = hold([asked], Settings()).answers
    assert row.verdict == CHANGED and "overflow saturate" in row.known and "overflow nan" in row.way
    saturates = replace(asked, ask=lambda x: mxact.convert(x, "e4m3fn", "ocp"))
    assert hold([saturates], Settings()).answers[0].verdict == FOLLOWS
    zeros = replace(asked, to="e8m0", ask=lambda x: mxact.convert(x, "e8m0", "jax-cuda"), rule="torch.bf16.e8m0")
    assert hold([zeros], Settings()).answers[0].verdict == CHANGED


def test_casts_and_functions_in_a_run() -> None:
    cast = CastQuestion("cast", "casts", "made-up", "cast", "bf16", "e5m2", lambda x: mxact.convert(x, "e5m2", "ocp"))
    exact = FunctionQuestion("sqrt", "functions", "made-up", "sqrt", np.sqrt, np.sqrt, 1.0, 2.0)
    near = FunctionQuestion("near", "functions", "made-up", "sqrt", np.sqrt, lambda x: np.nextafter(np.sqrt(x), np.float32(9)), 1.0, 2.0)
    rows = hold([cast, exact, near], Settings()).answers
    assert rows[0].verdict == FOLLOWS and rows[0].compared == 1 << 16 and rows[0].controls == {"repeat": "same"}
    assert rows[1].differ == 0 and rows[2].differ == rows[2].compared and "worst" in rows[2].way


def test_rules_are_records_that_products_take() -> None:
    keys = [row.key for row in rules()]
    assert len(set(keys)) == len(keys) > 25
    random = np.random.default_rng(1)
    a, b = (random.integers(0, 0x70, (4, 512), np.uint8) for _ in range(2))
    once = mxact.matmul(a, b.T, record("torch.tensor.fast"), scales=(np.float32(2), np.float32(3)), source=("e4m3fn", "e4m3fn"))
    cut = mxact.matmul(a, b.T, record("torch.tensor.fast", piece_k=128, pieces=4), scales=(np.float32(2), np.float32(3)), source=("e4m3fn", "e4m3fn"))
    case = Case(a, b, scale_a=np.float32(2), scale_b=np.float32(3))
    way = named("hopper-fp8", scales="total-plus-zero")
    assert np.array_equal(once, answer(way, case, ("e4m3fn", "e4m3fn"), "f32"))
    assert np.array_equal(cut, answer(replace(way, piece_k=128), case, ("e4m3fn", "e4m3fn"), "f32")) and not np.array_equal(once, cut)
    assert record("torch.rows.slow") == mxact.contract_record("cublaslt-fp8-rows-promoted")
    assert record("torch.grouped.fast") == mxact.contract_record("torch-grouped-fp8")
    for words in ({"key": "no.such"}, {"key": "triton.fp8.imprecise96"}, {"key": "torch.rows.fast", "piece_k": 128, "pieces": 4}, {"key": "torch.bf16", "pieces": 4}, {"key": "torch.bf16", "unit": "89"}):
        with pytest.raises(mxact.Error):
            record(**words)  # type: ignore[arg-type]


def test_instructions_have_a_contract_by_unit() -> None:
    names = {
        ("90", "mma", "bf16", "f32", 16): "hopper-bf16",
        ("90", "mma", "fp16", "fp16", 16): "hopper-f16-f16",
        ("90", "wgmma", "e4m3fn", "f32", 32): "hopper-fp8-f32",
        ("90", "mma", "e4m3fn", "f32", 32): "hopper-mma-fp8",
        ("90", "mma", "e5m2", "fp16", 16): "hopper-mma-fp8-k16-f16",
        ("89", "mma", "e4m3fn", "f32", 32): "ada-fp8",
        ("120", "mma", "e4m3fn", "f32", 32): "blackwell-f8f6f4",
        ("80", "mma", "tf32", "f32", 8): "ampere-tf32",
    }
    for asked, name in names.items():
        way = instruction_rule(*asked)
        assert way is not None and name_of(way.core) == name.replace("hopper-fp8-f32", "hopper-fp8"), asked
    assert "group=8" in instruction_rule("90", "mma", "bf16", "f32", 8).core.split(":")  # type: ignore[union-attr]
    assert instruction_rule("999", "mma", "bf16", "f32", 16) is None


def test_the_answers_as_text_page_issue_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"--from={LIBRARIES}", "--only=mm.bf16.f32", "--only=triton.dot.acc", "--quiet"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "FOLLOWS  mm.bf16.f32" in shown and "2 questions: 2 follow a contract" in shown
    assert main([*words, f"--json={tmp_path}/a.json", f"--page={tmp_path}/a.md", f"--report={tmp_path}/a.txt", f"--record={tmp_path}/set"]) == 0
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["schema"] == "mxact.hwcheck/1" and document["counts"]["follows"] == 2 and document["card"]["device"] == "h100"
    assert "| `mm.bf16.f32` |" in (tmp_path / "a.md").read_text() and "# Sums of h100" in (tmp_path / "a.txt").read_text()
    assert main([*words, f"--record={tmp_path}/set"]) == 2 and "not overwritten" in capsys.readouterr().err
    assert main(["--from", str(tmp_path / "nowhere")]) == 2 and main(["torsh"]) == 2 and main(["--limit", "x"]) == 2
    assert main([f"--from={LIBRARIES}", "--only=no.such.question", "--quiet"]) == 5


@pytest.mark.parametrize(
    "manifest",
    ["", "[]", '{"entries": 3}', '{"entries": [3]}', '{"entries": [{"op": "gemm"}]}', '{"entries": [{"op": "gemm", "params": {"out_format": "f32", "b_layout": "NK"}, "inputs": {"a": 1}}]}'],
)
def test_a_set_that_is_none_is_told_in_one_line(manifest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    assert main([f"--from={tmp_path}", "--quiet"]) == 2
    assert capsys.readouterr().err.startswith(f"mxact: {tmp_path}")


def test_verdicts_have_words_everywhere() -> None:
    rows = [Answer(f"q.{verdict}", "libraries", "l", "o", "bf16.bf16 -> f32", verdict, way="hopper-bf16", known="ampere-bf16", why="because", smallest="1 * 2", compared=4, differ=1) for verdict in held_module.VERDICTS]
    facts = {"device": "a card", "driver": "1.2"}
    for row in rows:
        assert row.name in text(rows, facts)
        assert row.verdict == "MEASURED" or row.name in page(rows, facts)
    assert "| l | `o` | hopper-bf16 | 4 |" in page(rows, facts)
    pasted = issue(rows, facts)
    for verdict in (NONE, CHANGED, MISTRUSTED, FAILED, FOLLOWS):
        assert f"q.{verdict}" in pasted


def test_help_and_import_need_no_torch(tmp_path: Path) -> None:
    """Modules that stand in for libraries raise when they are imported."""
    for name in ("torch", "triton", "jax", "cupy"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported')\n")
    for words in (["-c", "import mxact; from mxact.hwcheck import rules; rules()"], ["-m", "mxact.hwcheck", "--help"]):
        done = subprocess.run([sys.executable, *words], env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    done = subprocess.run([sys.executable, "-m", "mxact.hwcheck", "torch", "triton"], env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "RuntimeError" in done.stdout or done.returncode == 5 and "SKIPPED torch" in done.stdout, done.stdout + done.stderr


def test_orders_are_those_of_the_instructions() -> None:
    assert PAIRS.split(".") == [str(k) for k in (0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31)]
    assert QUADS.split(".")[:6] == ["0", "1", "8", "9", "16", "17"] and sorted(map(int, QUADS.split("."))) == list(range(64))
