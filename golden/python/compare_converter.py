"""Compares a converter's codes with mxact's: prints what differs, and ends with 1 if anything does."""

import sys

import mxact


def compare(codes, converted, source="bf16", target="e4m3fn", profile="ocp"):
    right, _ = mxact.convert(codes, source, target, profile)
    wrong = [i for i in range(len(codes)) if right[i] != converted[i]]
    for i in wrong[:20]:
        print(f"0x{codes[i]:x}: 0x{converted[i]:x}, right 0x{right[i]:x}")
    return len(wrong)


if __name__ == "__main__":
    every = range(1 << 16)
    own, _ = mxact.convert(every, "bf16", "e4m3fn", sys.argv[1] if len(sys.argv) > 1 else "ocp")
    sys.exit(1 if compare(every, own) else 0)
