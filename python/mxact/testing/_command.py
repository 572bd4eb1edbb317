"""python -m mxact laws SUBJECT [options] -- COMMAND: somebody else's program, of any language, under the laws of this package."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact._error import STATUSES, Error
from mxact._tables import layouts
from mxact.testing import _comparisons
from mxact.testing._converters import assert_converter
from mxact.testing._kernels import assert_kernel
from mxact.testing._oracles import assert_oracle
from mxact.testing._pipes import Program, interruption
from mxact.testing._quantizers import assert_quantizer
from mxact.testing._runs import Broken, settings, told

# As the program's exit statuses are: held, failed, nothing answered; a wrong command line and what else ends a verb by an error.
HELD, FAILED, NOTHING = 0, 1, 5
_FOR_PROGRAM = 80


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Error(message, place="command line")


def _whole(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text) < 1 << 32:
            return int(text)
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {(1 << 32) - 1}")

    return number


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) <= 86400:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0, a day at most")


def _scale(text: str) -> str | float:
    with contextlib.suppress(ValueError):
        return text if text == "given" else float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'given'")


def parser() -> Parser:
    common = Parser(add_help=False)
    common.add_argument("--seed", type=_whole(0), default=0, metavar="N", help="of everything that is drawn: the same seed draws the same cases (0)")
    common.add_argument("--examples", type=_whole(1), default=100, metavar="N", help="cases that are drawn one by one (100)")
    common.add_argument("--timeout", type=_seconds, default=60, metavar="SECONDS", help="within which a case is answered (60)")
    versioned = Parser(add_help=False)
    versioned.add_argument("--engine", help="a version of mxact.engines()")
    packing = Parser(add_help=False)
    packing.add_argument("--platform", help="sm100, gfx950, ...")
    packing.add_argument("--format", help="of the weights: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4")
    packing.add_argument("--order", help="of w13's rows: gpt_oss or standard")
    packing.add_argument("--no-bias", action="store_true", help="layers without biases")
    whole = Parser(prog="python -m mxact laws", description="A program behind a pipe under the laws: docs/python.md has its frames.", allow_abbrev=False)
    of = whole.add_subparsers(dest="subject", required=True, metavar="SUBJECT", parser_class=Parser)
    quantizer = of.add_parser("quantizer", parents=[common], help="blocks into codes and scales")
    quantizer.add_argument("block_format", metavar="FORMAT")
    quantizer.add_argument("--profile", required=True)
    quantizer.add_argument("--source", default="f32", help="f32, bf16 or fp16 (f32)")
    quantizer.add_argument("--tensor-scale", type=_scale, help="a number, or 'given': one is drawn for each request")
    converter = of.add_parser("converter", parents=[common, versioned, packing], help="a layer into a backend's memory")
    converter.add_argument("backend", metavar="BACKEND")
    oracle = of.add_parser("oracle", parents=[common, versioned], help="deployments to backends")
    oracle.add_argument("--oracle", default="mxfp4")
    oracle.add_argument("--needs-only", action="store_true", help="any choice whose kernels keep their needs")
    kernel = of.add_parser("kernel", parents=[common, versioned, packing], help="a layer of experts")
    kernel.add_argument("--contract")
    kernel.add_argument("--backend")
    kernel.add_argument("--order-proof", action="store_true")
    kernel.add_argument("--activation", required=True, help="SWIGLUOAI or SILU")
    kernel.add_argument("--limit", type=float, help="of gate and up, in the place of the activation's own")
    _comparisons.add(of, common)
    return whole


def _quantizer(asked: argparse.Namespace, program: Program) -> None:
    head = {"op": "quantize", "format": asked.block_format, "profile": asked.profile, "source": asked.source}

    def fn(x: Array, tensor_scale: object = None) -> tuple[Array, Array]:
        scale = {} if tensor_scale is None else {"tensor_scale": float(tensor_scale)}  # type: ignore[arg-type]
        _, given = program.ask({**head, **scale}, {"x": x})
        return _named(given, "codes"), _named(given, "scales")

    assert_quantizer(fn, asked.block_format, asked.profile, asked.source, asked.tensor_scale)


def _named(given: Mapping[str, Array], name: str) -> Array:
    if name not in given:
        raise Broken(f"the command's answer has no array {name}")
    return given[name]


def _packing(asked: argparse.Namespace) -> dict[str, Any]:
    words = {"engine": asked.engine, "platform": asked.platform, "format": asked.format, "order": asked.order}
    return {"bias": not asked.no_bias, **{name: value for name, value in words.items() if value is not None}}


def _converter(asked: argparse.Namespace, program: Program) -> None:
    how = _packing(asked)
    head = {"op": "convert", "backend": asked.backend, **{name: value for name, value in how.items() if name != "bias"}}
    if asked.backend in layouts():
        assert_converter(lambda tensor: _named(program.ask(head, {"tensor": tensor})[1], "memory"), asked.backend, **{name: value for name, value in how.items() if name != "bias"})
    else:
        assert_converter(lambda layer: program.ask(head, layer)[1], asked.backend, **how)


def _oracle(asked: argparse.Namespace, program: Program) -> None:
    head = {"op": "select", "oracle": asked.oracle, "engine": asked.engine}

    def fn(deployment: dict[str, Any]) -> str:
        try:
            answer, _ = program.ask({**head, "deployment": _plain(deployment)}, {})
        except RuntimeError as error:  # which is no refusal
            raise Broken(f"the command answers an error: {error}") from None
        if "backend" in answer:
            return str(answer["backend"])
        if "refusal" not in answer:
            raise Broken("the command's answer has neither backend nor refusal")
        raise ValueError(str(answer["refusal"]))

    assert_oracle(fn, engine=asked.engine, oracle=asked.oracle, needs_only=asked.needs_only)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _kernel(asked: argparse.Namespace, program: Program) -> None:
    how = _packing(asked)
    head = {"op": "kernel", "contract": asked.contract, "backend": asked.backend, "activation": asked.activation}
    head |= {name: value for name, value in how.items() if name != "bias"}
    if asked.limit is not None:
        head["limit"] = how["limit"] = asked.limit

    def fn(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        return _named(program.ask(head, {"x": x, "ids": ids, "weights": weights, **tensors})[1], "out")

    assert_kernel(fn, asked.contract, asked.backend, asked.order_proof, activation=asked.activation, **how)


_SUBJECTS: dict[str, Callable[[argparse.Namespace, Program], None]] = {
    "quantizer": _quantizer,
    "converter": _converter,
    "oracle": _oracle,
    "kernel": _kernel,
    "power": _comparisons.power,
    "batch": _comparisons.batch,
}


def main(words: list[str], for_program: bool = False) -> int:
    """The exit status: 0 held, 1 failed, 2 a wrong command line or a command that cannot be started, 4 what is not known, as a version of the engine, 5 a
    command that wrote nothing at all, 130 or 143 interrupted. For the program mxact, which says what came out, one object of JSON stands for text, and the
    status is 0 or an error's."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interruption.note)
    try:
        return _asked(words, for_program)
    except KeyboardInterrupt as signalled:
        return 128 + (signalled.args[0] if signalled.args else signal.SIGINT)


def _asked(words: list[str], for_program: bool) -> int:
    own, command = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    try:
        asked = parser().parse_args(own)
        if not command:
            raise Error("which command is held? It stands behind --", place="command line")
        return _held(asked, command, words, for_program)
    except Error as error:
        sentence = f"{error.place + ': ' if error.place and error.place not in error.message else ''}{error}"
        print(sentence if for_program else f"mxact: {sentence}", file=sys.stdout if for_program else sys.stderr)
        status = STATUSES.get(error.code, STATUSES["usage"])
        # Of a Python without this package the program hears 4.
        return status if status == STATUSES["usage"] or not for_program else _FOR_PROGRAM + status


def _name(asked: argparse.Namespace) -> str:
    words = [asked.subject] + [str(value) for name in ("block_format", "profile", "backend", "oracle", "contract", "format") if (value := getattr(asked, name, None))]
    return " ".join(words)


def _held(asked: argparse.Namespace, command: list[str], words: list[str], for_program: bool) -> int:
    own = words[: words.index("--")]
    own = [word for i, word in enumerate(own) if not (word.startswith("--seed") or own[max(i - 1, 0) : i] == ["--seed"])]
    settings.begin(asked.seed, asked.examples)
    door = ["mxact"] if for_program else ["python", "-m", "mxact"]
    settings.replay = shlex.join([*door, "laws", *own, f"--seed={asked.seed}", "--", *command])
    program = Program(command, asked.timeout)
    failure = ""
    try:
        try:
            _SUBJECTS[asked.subject](asked, program)
        except AssertionError as failed:
            failure = str(failed)
        # Behind a wrong answer, too: one too many is read as the next one's.
        with told():
            program.finish()
    except AssertionError as failed:
        failure = str(failed)
    finally:
        program.close()
    if for_program:
        lines = failure.splitlines()
        said = {"subject": asked.subject, "held": "; ".join(settings.held) or _name(asked), "command": shlex.join(command), "seed": asked.seed, "compared": settings.cases, "answers": program.answers, "heard": program.is_heard}
        shown = {name: json.loads(one.to_json()) for name, one in settings.shown.items()}
        print(json.dumps({**said, **shown, "failure": "\n".join(lines[:-1]), "replay": settings.replay}))
        return HELD
    for one in settings.shown.values():
        print(one)
    if failure:
        print(f"FAILED\n{failure}" if program.is_heard else f"MISTRUSTED: it answered nothing\n{failure}")
        return FAILED if program.is_heard else NOTHING
    print(f"PASSED {'; '.join(settings.held)}: {settings.cases} compared, seed {settings.seed}")
    return HELD
