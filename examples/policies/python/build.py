"""Builds `policy.wasm` from `policy.py`: the program, an interpreter for it, and the imports of WASI that it brings along.

    python build.py                the component beside this file
    python build.py --stub-wasi    without any import; what Python would call traps without saying what it was
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILER = Path(sys.executable).parent / "componentize-py"


def main() -> None:
    out = HERE / "policy.wasm"
    world = ["--wit-path", str(HERE / "../../../wit"), "--world", "policy"]
    build = ["componentize", "--python-path", str(HERE), "--output", str(out), *sys.argv[1:], "policy"]
    subprocess.run([str(COMPILER), "--quiet", *world, *build], check=True)
    print(f"{out}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
