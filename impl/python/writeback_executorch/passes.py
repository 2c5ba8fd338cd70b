"""The write-back pass under test: the installed one, or one named by the user."""

import importlib
import importlib.util
import pathlib

from .early import executorch_modules
from .errors import BridgeError, first_line

PASS = "insert_write_back_for_buffers_pass"


def installed_pass():
    """ExecuTorch's own insert_write_back_for_buffers_pass."""
    to_executorch, _, _ = executorch_modules()
    return getattr(to_executorch, PASS)


def pass_from(name=None, file=None):
    """The pass that `--pass module:function` or `--pass-file path.py` means; None where neither is given."""
    if name:
        module_name, _, function = name.partition(":")
        try:
            module = importlib.import_module(module_name)
        except ImportError as e:
            raise BridgeError(f"--pass {name}: {first_line(e)}") from e
        return _function(module, function or PASS, f"--pass {name}")
    if file:
        spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
        if spec is None or not pathlib.Path(file).exists():
            raise BridgeError(f"--pass-file {file}: no such Python file")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as e:
            raise BridgeError(f"--pass-file {file} cannot be imported: {type(e).__name__} {first_line(e)}") from e
        return _function(module, PASS, f"--pass-file {file}")
    return None


def _function(module, name, what):
    if not callable(getattr(module, name, None)):
        raise BridgeError(f"{what}: no function {name} in {module.__name__}")
    return getattr(module, name)
