"""The bridge between `writeback` and PyTorch / ExecuTorch.

    with writeback_executorch.early_write_back():
        program = edge.to_executorch()

runs ExecuTorch's pipeline with copies at their earliest safe points (early.py). The commands: `python -m writeback_executorch.serve`,
`.endtoend`, `.judge`, `.hunt`, `.campaign`, `.confirm`, `.convert`, `.savings`.
"""

import sys

from .errors import NO_TORCH, BridgeError, said, torch_is_missing

__all__ = ["BridgeError", "early_write_back"]
__version__ = "0.1.0"


def __getattr__(name):
    if name != "early_write_back":
        raise AttributeError(name)
    if torch_is_missing():
        raise BridgeError(NO_TORCH)
    from .early import early_write_back  # torch is heavy: imported when it is used
    return early_write_back


if sys.argv[:1] == ["-m"] and torch_is_missing():  # `python -m` brings the package in before the command, which would fail on its imports
    sys.exit(said(NO_TORCH))
