"""The bridge between `writeback` and PyTorch / ExecuTorch.

    with writeback_executorch.early_write_back():
        program = edge.to_executorch()

runs ExecuTorch's pipeline with copies at their earliest safe points (early.py). The commands: `python -m writeback_executorch.serve`,
`.endtoend`, `.judge`, `.hunt`, `.campaign`, `.confirm`, `.convert`, `.savings`.
"""

from .errors import BridgeError

__all__ = ["BridgeError", "early_write_back"]
__version__ = "0.1.0"


def __getattr__(name):
    if name != "early_write_back":
        raise AttributeError(name)
    from .early import early_write_back  # torch is heavy: imported when it is used
    return early_write_back
