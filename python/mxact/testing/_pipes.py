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
from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact.testing._runs import Broken, CannotStart

_MOST_HEAD = 1 << 20
_MOST_BYTES = 1 << 32
_DTYPES = {str(dtype): dtype for dtype in map(np.dtype, ("uint8", "uint16", "uint32", "int32", "float16", "float32"))}
_DTYPES |= {name: np.dtype(getattr(ml_dtypes, name)) for name in ("bfloat16", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")}


class Program:
    """A command that is started when it is first asked, and again when it ended."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self.command, self.timeout = list(command), timeout
        self.answers = 0
        self.process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        if self.process is not None:
            # The group: what it started ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            self.process = None

    def ask(self, head: dict[str, Any], arrays: Mapping[str, Array]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Raises Broken for a program that exits, hangs or answers no frame, RuntimeError for one that answers an error."""
        named = [{"name": name, "dtype": str(values.dtype), "shape": list(values.shape)} for name, values in arrays.items()]
        data = b"".join(np.ascontiguousarray(values).tobytes() for values in arrays.values())
        request = json.dumps({**head, "arrays": named, "bytes": len(data)}).encode() + b"\n" + data
        try:
            answer, given = self._exchange(request)
        except Broken:
            self.close()
            raise
        self.answers += 1
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return answer, given

    def _exchange(self, request: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
        stream = _Stream(self._running(), self.timeout)
        if stream.left_over():
            raise Broken("the command answers more than it was asked")
        stream.send(request)
        line = stream.line()
        try:
            answer = json.loads(line)
        except ValueError:
            raise Broken(f"the command's answer is no JSON: {line[:60]!r}") from None
        if not isinstance(answer, dict):
            raise Broken(f"the command's answer is no object: {line[:60]!r}")
        arrays, size = _shapes(answer.get("arrays", []))
        claimed = answer.get("bytes", size)
        if claimed != size:
            raise Broken(f"the command's answer has {claimed} bytes, its arrays {size}")
        data, at, given = stream.exactly(size), 0, {}
        for name, dtype, shape, length in arrays:
            given[name] = np.frombuffer(data[at : at + length], dtype).reshape(shape)
            at += length
        if stream.left_over():
            raise Broken("the command answers more than its arrays have")
        return answer, given

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.close()
            try:
                self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0)
            except OSError as problem:
                raise CannotStart(f"{self.command[0]} cannot be started: {problem.strerror}", place="command") from None
        return self.process


def _shapes(arrays: Any) -> tuple[list[tuple[str, np.dtype[Any], list[int], int]], int]:
    made, total = [], 0
    try:
        for one in arrays:
            name, dtype, shape = str(one["name"]), one["dtype"], [int(extent) for extent in one["shape"]]
            if dtype not in _DTYPES:
                raise Broken(f"the command's {name} is {dtype}, must be one of {', '.join(_DTYPES)}")
            length = int(np.prod(shape, dtype=object)) * _DTYPES[dtype].itemsize
            if min(shape, default=0) < 0 or length > _MOST_BYTES:
                raise Broken(f"the command's {name} has shape {shape}")
            made.append((name, _DTYPES[dtype], shape, length))
            total += length
    except (KeyError, TypeError, ValueError):
        raise Broken("the command's arrays are no list of name, dtype and shape") from None
    return made, total


class _Stream:
    """Both ends of a process, within a time."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.to, self.back = process, process.stdin.fileno(), process.stdout.fileno()
        self.timeout, self.deadline = timeout, time.monotonic() + timeout
        self.buffer = bytearray()
        for end in (self.to, self.back):
            os.set_blocking(end, False)

    def left_over(self) -> bool:
        self._read()
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
                self._ended()

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
            self._ended()
        self.buffer += data
        return True

    def _wait(self, end: int, event: int) -> None:
        left = self.deadline - time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(end, event)
            if left <= 0 or not selector.select(left):
                raise Broken(f"the command does not answer within {self.timeout:g} s")

    def _ended(self) -> None:
        try:
            status = self.process.wait(1)
        except subprocess.TimeoutExpired:
            raise Broken("the command closed its standard output") from None
        raise Broken(f"the command ended with exit status {status} before it had answered")
