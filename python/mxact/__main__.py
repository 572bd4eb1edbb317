"""python -m mxact laws ...: a program of any language under the laws."""

import sys

if len(sys.argv) > 1 and sys.argv[1] == "laws":
    from mxact.testing._command import main

    sys.exit(main(sys.argv[2:]))
if len(sys.argv) > 1 and sys.argv[1] in ("inspect", "audit", "compare"):
    from mxact._error import STATUSES, Error
    from mxact._onnx import command

    try:
        sys.exit(command(sys.argv[1], sys.argv[2:]))
    except Error as error:
        print(f"mxact: {error.place}: {error}", file=sys.stderr)
        sys.exit(STATUSES[error.code])
print("usage: python -m mxact (inspect | audit) FILE.onnx, or compare FILE.onnx OTHER", file=sys.stderr)
print("       python -m mxact laws (quantizer FORMAT | converter BACKEND | oracle | kernel | power | batch) [options] -- COMMAND", file=sys.stderr)
sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
