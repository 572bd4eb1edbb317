"""python -m mxact laws ...: a program of any language under the laws."""

import sys

if len(sys.argv) > 1 and sys.argv[1] == "laws":
    from mxact.testing._command import main

    sys.exit(main(sys.argv[2:]))
print("usage: python -m mxact laws (quantizer FORMAT | converter BACKEND | oracle | kernel | power | batch) [options] -- COMMAND", file=sys.stderr)
sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
