"""A program of any language behind a pipe, as a function that the laws call.

A frame is a line of JSON, then as many bytes as its "bytes" says: the arrays that its "arrays" names (name, dtype, shape), one behind the other, C order,
little-endian. The program reads requests on its standard input and writes an answer to each on its standard output; docs/python.md has every member.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact.testing._runs import Broken, CannotStart

_MOST_HEAD = 1 << 20
_MOST_BYTES = 1 << 32
_MOST_AXES = 32
# Seconds for a command that is asked nothing more to end.
_FAREWELL = 2.0
_DTYPES = {str(dtype): dtype for dtype in map(np.dtype, ("uint8", "uint16", "uint32", "int32", "float16", "float32"))}
_DTYPES |= {name: np.dtype(getattr(ml_dtypes, name)) for name in ("bfloat16", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")}


class Interruption:
    """Of the main thread by a signal, but not while a process is being started: nobody could end it then."""

    def __init__(self) -> None:
        self.is_held = False
        self.number: int | None = None

    def note(self, number: int, _: object) -> None:
        """A handler of signals. What hypothesis takes for a failure of the case is any other exception."""
        if not self.is_held:
            raise KeyboardInterrupt(number)
        self.number = number

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False
        if self.number is not None:
            raise KeyboardInterrupt(self.number)


interruption = Interruption()


class Program:
    """A command that is started when it is first asked. What it does wrong once, ends the run: it is not started again for the next case."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self.command, self.timeout = list(command), timeout
        self.answers = 0
        self.is_heard = False  # it wrote something, be it no answer
        self.asked = ""  # the head of the last request
        self.process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        if self.process is not None:
            # The group: what it started ends with it. What left the group may hold the pipes for ever: nothing waits for their end.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()
            self.process.wait()
            self.process = None

    def finish(self) -> None:
        """Nothing more is asked. Raises Broken for what it wrote behind its last answer."""
        if self.process is None:
            return
        stream = _Stream(self.process, min(self.timeout, _FAREWELL))
        assert self.process.stdin is not None
        self.process.stdin.close()
        if stream.rest():
            raise self._too_much()

    def _too_much(self) -> Broken:
        return Broken(f"the command answers more than it was asked: bytes behind its answer number {self.answers}, to {self.asked[:300]}")

    def ask(self, head: dict[str, Any], arrays: Mapping[str, Array]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Raises Broken for a program that exits, hangs or answers no frame, RuntimeError for one that answers an error, CannotStart for one that never was there."""
        named = [{"name": name, "dtype": str(values.dtype), "shape": list(values.shape)} for name, values in arrays.items()]
        data = b"".join(np.ascontiguousarray(values).tobytes() for values in arrays.values())
        request = json.dumps({**head, "arrays": named, "bytes": len(data)}).encode() + b"\n" + data
        try:
            answer, given = self._exchange(request)
        except Broken:
            self.close()
            raise
        self.answers += 1
        self.asked = request[: request.index(b"\n")].decode()
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return answer, given

    def _exchange(self, request: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
        stream = _Stream(self._running(), self.timeout)
        try:
            return self._frame(stream, request)
        finally:
            self.is_heard |= stream.is_heard

    def _frame(self, stream: _Stream, request: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
        if stream.left_over():
            raise self._too_much()
        stream.send(request)
        line = stream.line()
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise Broken(f"the command's answer is no JSON: {line[:60]!r}") from None
        if not isinstance(answer, dict):
            raise Broken(f"the command's answer is no object: {line[:60]!r}")
        arrays = _shapes(answer.get("arrays", []))
        size = sum(array.size for array in arrays)
        claimed = answer.get("bytes", size)
        if claimed != size:
            raise Broken(f"the command's answer has {str(claimed)[:60]} bytes, its arrays {size}")
        data, at, given = stream.exactly(size), 0, {}
        for array in arrays:
            given[array.name] = np.frombuffer(data, array.dtype, array.size // array.dtype.itemsize, at).reshape(array.shape)
            at += array.size
        if stream.left_over():
            raise Broken("the command answers more than its arrays have")
        return answer, given

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            try:
                with interruption.held():
                    self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0)
            except OSError as problem:
                if self.answers:
                    raise Broken(f"the command ended, and cannot be started again: {problem.strerror}") from None
                raise CannotStart(f"{self.command[0]} cannot be started: {problem.strerror}", place="command") from None
        return self.process


@dataclass(frozen=True)
class _Described:
    """An array of an answer, as its head says it."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """In bytes."""
        return prod(self.shape) * self.dtype.itemsize


def _shapes(arrays: Any) -> list[_Described]:
    if not isinstance(arrays, list) or not all(isinstance(one, dict) for one in arrays):
        raise Broken("the command's arrays are no list of name, dtype and shape")
    made = [_described(one) for one in arrays]
    names = [one.name for one in made]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Broken(f"the command's answer has {twice[0]} twice")
    if sum(one.size for one in made) > _MOST_BYTES:
        raise Broken(f"the command's answer has more than {_MOST_BYTES} bytes: {', '.join(f'{one.name} {one.shape}' for one in made)[:200]}")
    return made


def _described(one: dict[str, Any]) -> _Described:
    name, dtype, shape = one.get("name"), one.get("dtype"), one.get("shape")
    if not isinstance(name, str) or not isinstance(dtype, str) or not isinstance(shape, list):
        raise Broken("the command's arrays are no list of name, dtype and shape")
    if dtype not in _DTYPES:
        raise Broken(f"the command's {name} is {dtype[:60]}, must be one of {', '.join(_DTYPES)}")
    # True is an int of Python's.
    if len(shape) > _MOST_AXES or not all(type(extent) is int and 0 <= extent <= _MOST_BYTES for extent in shape):
        raise Broken(f"the command's {name} has shape {str(shape)[:60]}, must have up to {_MOST_AXES} whole numbers from 0 to {_MOST_BYTES}")
    return _Described(name, _DTYPES[dtype], tuple(shape))


class _Stream:
    """Both ends of a process, within a time."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.to, self.back = process, process.stdin.fileno(), process.stdout.fileno()
        self.timeout, self.deadline = timeout, time.monotonic() + timeout
        self.buffer = bytearray()
        self.is_heard = False
        for end in (self.to, self.back):
            os.set_blocking(end, False)

    def left_over(self) -> bool:
        self._read()
        return bool(self.buffer)

    def rest(self) -> bool:
        """Whether anything comes before the command ends or the time is over."""
        with contextlib.suppress(Broken):
            while not self.buffer:
                self._more()
        return bool(self.buffer)

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.to, view) :]
            except BlockingIOError:
                # It may answer before it has read all; what it writes is kept.
                self._wait(self.to, selectors.EVENT_WRITE)
                self._read()
            except BrokenPipeError:
                self._ended("closed its standard input")

    def line(self) -> bytes:
        while (end := self.buffer.find(b"\n")) < 0:
            if len(self.buffer) > _MOST_HEAD:
                raise Broken(f"the command's answer begins with no line of JSON within {_MOST_HEAD} bytes")
            self._more()
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        return line

    def exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self._more()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def _more(self) -> None:
        before = len(self.buffer)
        if not self._read() and len(self.buffer) == before:
            self._wait(self.back, selectors.EVENT_READ)

    def _read(self) -> bool:
        """What there is; ends the case where nothing will come any more."""
        try:
            data = os.read(self.back, 1 << 20)
        except BlockingIOError:
            return False
        if not data:
            self._ended("closed its standard output")
        self.is_heard = True
        self.buffer += data
        return True

    def _wait(self, end: int, event: int) -> None:
        left = self.deadline - time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(end, event)
            if left <= 0 or not selector.select(left):
                # What it started may hold the pipes that it left.
                ended = self.process.poll()
                raise Broken(f"the command does not answer within {self.timeout:g} s" if ended is None else f"the command {_end(ended)} before it had answered")

    def _ended(self, closed: str) -> None:
        try:
            status = self.process.wait(1)
        except subprocess.TimeoutExpired:
            raise Broken(f"the command {closed}") from None
        raise Broken(f"the command {_end(status)} before it had answered")


def _end(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"
