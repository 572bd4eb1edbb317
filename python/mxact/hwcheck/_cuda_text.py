"""CUDA text of single instructions: one tile of products a block, codes as they lie, C in registers. PTX ISA: mma, wgmma.mma_async; fragments of 4 bytes a lane."""

from __future__ import annotations

from dataclasses import dataclass

_SHORT = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "e4m3fn": "e4m3", "e5m2": "e5m2"}
_BYTES = {"fp16": 2, "bf16": 2, "tf32": 4, "e4m3fn": 1, "e5m2": 1}


@dataclass(frozen=True)
class Instruction:
    """form: mma or wgmma. a, b: formats of the operands; to: of C and the result; k: products. least, only: compute capabilities."""

    form: str
    a: str
    b: str
    to: str
    k: int
    least: int
    only: int = 0

    @property
    def row_bytes(self) -> int:
        return self.k * _BYTES[self.a]

    @property
    def rows(self) -> int:
        return 64 if self.form == "wgmma" else 16

    @property
    def word(self) -> str:
        shape = f"m{self.rows}n8k{self.k}"
        to = "f16" if self.to == "fp16" else "f32"
        a, b = _SHORT[self.a], _SHORT[self.b]
        if self.form == "wgmma":
            return f"wgmma.mma_async.sync.aligned.{shape}.{to}.{a}.{b}"
        return f"mma.sync.aligned.{shape}.row.col.{to}.{a}.{b}.{to}"

    @property
    def shape(self) -> str:
        """Without the operands' formats: what one sum is depends on them alone."""
        return f"{'wgmma' if self.form == 'wgmma' else 'mma.sync'} m{self.rows}n8k{self.k}, {self.to}"

    @property
    def name(self) -> str:
        return f"{self.form}.m{self.rows}n8k{self.k}.{self.to}.{self.a}.{self.b}"

    @property
    def symbol(self) -> str:
        return self.name.replace(".", "_")

    def has(self, unit: str) -> bool:
        return int(unit) == self.only if self.only else int(unit) >= self.least


_FP8 = ("e4m3fn", "e5m2")
INSTRUCTIONS: tuple[Instruction, ...] = (
    Instruction("mma", "fp16", "fp16", "f32", 8, 75),
    Instruction("mma", "fp16", "fp16", "fp16", 8, 75),
    Instruction("mma", "bf16", "bf16", "f32", 8, 80),
    Instruction("mma", "fp16", "fp16", "f32", 16, 80),
    Instruction("mma", "fp16", "fp16", "fp16", 16, 80),
    Instruction("mma", "bf16", "bf16", "f32", 16, 80),
    Instruction("mma", "tf32", "tf32", "f32", 4, 80),
    Instruction("mma", "tf32", "tf32", "f32", 8, 80),
    *(Instruction("mma", a, b, to, k, 89) for k in (16, 32) for to in ("f32", "fp16") for a in _FP8 for b in _FP8),
    Instruction("wgmma", "fp16", "fp16", "f32", 16, 90, 90),
    Instruction("wgmma", "fp16", "fp16", "fp16", 16, 90, 90),
    Instruction("wgmma", "bf16", "bf16", "f32", 16, 90, 90),
    Instruction("wgmma", "tf32", "tf32", "f32", 8, 90, 90),
    *(Instruction("wgmma", a, b, to, 32, 90, 90) for to in ("f32", "fp16") for a in _FP8 for b in _FP8),
)


def _list(first: int, count: int) -> str:
    return "{" + ",".join(f"%{first + i}" for i in range(count)) + "}"


def _signature(one: Instruction) -> str:
    return f'extern "C" __global__ void {one.symbol}(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d, int N)'


def _accumulators(one: Instruction) -> tuple[str, str, int]:
    """Text that loads C and stores D, and how many registers they are: of fp32 one a number, of fp16 one for two."""
    words = "" if one.to == "f32" else " / 2"
    width = 2 if one.to == "f32" else 1
    count = 2 * width
    places = [f"(row + {8 * (i // width)}) * (N{words}) + column{words} + {i % width}" for i in range(count)]
    load = "".join(f"  unsigned r{i} = c[{place}];\n" for i, place in enumerate(places))
    store = "".join(f"  d[{place}] = r{i};\n" for i, place in enumerate(places))
    return load, store, count


def _mma(one: Instruction) -> str:
    load, store, count = _accumulators(one)
    words, halves = one.row_bytes // 4, one.row_bytes // 16
    a = [f"a[(row + {8 * (i % 2)}) * {words} + t + {4 * (i // 2)}]" for i in range(2 * halves)]
    b = [f"b[(blockIdx.y * 8 + g) * {words} + t + {4 * i}]" for i in range(halves)]
    operands = ", ".join(f'"r"({place})' for place in [*a, *b])
    registers = ", ".join(f'"+r"(r{i})' for i in range(count))
    text = f"{one.word} {_list(0, count)}, {_list(count, len(a))}, {_list(count + len(a), len(b))}, {_list(0, count)};"
    return f"""{_signature(one)} {{
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.x * 16 + g, column = blockIdx.y * 8 + 2 * t;
{load}  asm volatile("{text}" : {registers} : {operands});
{store}}}
"""


def _wgmma(one: Instruction) -> str:
    load, store, count = _accumulators(one)
    # Core matrices of 8 rows of 16 bytes: those beside each other in k lie 1024 and 128 bytes apart, those in m 128.
    registers = ", ".join(f'"+r"(r{i})' for i in range(count))
    turned = ", 0, 0" if one.a in ("fp16", "bf16") else ""
    text = f"{{ .reg .pred p; setp.ne.b32 p, 1, 0; {one.word} {_list(0, count)}, %{count}, %{count + 1}, p, 1, 1{turned}; }}"
    return f"""{_signature(one)} {{
  __shared__ __align__(128) unsigned sa[64 * 8];
  __shared__ __align__(128) unsigned sb[8 * 8];
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {{
    int r = i / 8, w = i % 8;
    sa[(w / 4) * 256 + (r / 8) * 32 + (r % 8) * 4 + w % 4] = a[(blockIdx.x * 64 + r) * 8 + w];
  }}
  for (int i = threadIdx.x; i < 8 * 8; i += 128) {{
    int r = i / 8, w = i % 8;
    sb[(w / 4) * 32 + r * 4 + w % 4] = b[(blockIdx.y * 8 + r) * 8 + w];
  }}
  int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int row = blockIdx.x * 64 + (threadIdx.x / 32) * 16 + g, column = blockIdx.y * 8 + 2 * t;
{load}  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  unsigned long long pa = __cvta_generic_to_shared(sa), pb = __cvta_generic_to_shared(sb);
  unsigned long long da = (pa & 0x3FFFF) >> 4 | (1024ull >> 4) << 16 | (128ull >> 4) << 32;
  unsigned long long db = (pb & 0x3FFFF) >> 4 | (128ull >> 4) << 16 | (128ull >> 4) << 32;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{text}" : {registers} : "l"(da), "l"(db));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
{store}}}
"""


def text_of(one: Instruction) -> str:
    return _wgmma(one) if one.form == "wgmma" else _mma(one)


# Elementary functions, one instruction each, and what they are of; conversions of pairs into bytes.
FUNCTIONS = {"ex2.approx.f32": "exp2", "rcp.approx.f32": "reciprocal", "lg2.approx.f32": "log2", "sqrt.approx.f32": "sqrt", "rsqrt.approx.f32": "rsqrt", "tanh.approx.f32": "tanh"}
CONVERSIONS = {"cvt.rn.satfinite.e4m3x2.f32": "e4m3fn", "cvt.rn.satfinite.e5m2x2.f32": "e5m2"}


def function_text(word: str) -> str:
    name = word.replace(".", "_")
    return f"""extern "C" __global__ void {name}(const float* x, float* y, int n) {{
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) asm("{word} %0, %1;" : "=f"(y[i]) : "f"(x[i]));
}}
"""


def conversion_text(word: str) -> str:
    name = word.replace(".", "_")
    return f"""extern "C" __global__ void {name}(const float* x, unsigned char* y, int n) {{
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned short pair;
  if (i < n) {{
    asm("{word} %0, %1, %1;" : "=h"(pair) : "f"(x[i]));
    y[i] = (unsigned char)(pair & 255);
  }}
}}
"""
