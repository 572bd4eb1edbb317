"""A converter inside a simulator (cocotb, Icarus Verilog), each of its answers held against the model as it comes.

usage: python3 docs/examples/cocotb_scoreboard.py [broken]   in the root of the repository; "broken": ties go away from zero
"""

import random
import sys
import tempfile
from pathlib import Path

import cocotb
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

import mxact

ANSWERS = 2000


def operands():
    """fp32 codes; every second one lies on a middle between two numbers of E4M3, or beside it."""
    draw = random.Random(1)
    for _ in range(ANSWERS // 2):
        yield draw.getrandbits(32)
        yield draw.getrandbits(1) << 31 | draw.randrange(110, 140) << 23 | draw.getrandbits(3) << 20 | 1 << 19 | draw.randrange(-1, 2)


@cocotb.test()
async def says_nothing_before_its_first_operand(dut):
    board = mxact.scoreboard("f32_to_e4m3fn")
    await Timer(1, "ns")
    board.check(0x3F800000, dut.r)
    assert board.report().kinds == {"x or z": 1}


@cocotb.test()
async def converts(dut):
    with mxact.scoreboard("f32_to_e4m3fn", expected=ANSWERS) as board:
        for code in operands():
            dut.a.value = code
            await Timer(1, "ns")
            board.check(dut.a, dut.r, at=f"{get_sim_time('ns')} ns")


if __name__ == "__main__":
    from cocotb_tools.runner import get_results, get_runner

    icarus = get_runner("icarus")
    broken = int("broken" in sys.argv)
    with tempfile.TemporaryDirectory() as scratch:
        icarus.build(sources=["golden/sv/f32_to_e4m3.sv"], hdl_toplevel="f32_to_e4m3", parameters={"BROKEN": broken}, build_args=["-g2012"], build_dir=scratch, timescale=("1ns", "1ps"))
        results = icarus.test(hdl_toplevel="f32_to_e4m3", test_module=Path(__file__).stem, build_dir=scratch, extra_env={"PYTHONPATH": ":".join(sys.path)})
        sys.exit(get_results(results)[1] > 0)
