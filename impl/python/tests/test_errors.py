"""Whatever is missing or wrong is told in a sentence and by exit status 2, by every command that can meet it."""

import json
import pathlib
import subprocess
import sys

import pytest
from conftest import MODELS
from test_program import one_node

from writeback_executorch import campaign, confirm, convert, endtoend, hunt, program, serve

COUNTER = str(MODELS / "counter.pt2")


@pytest.fixture
def request_file(tmp_path):
    """Writes a request of the line protocol and gives its path."""
    def write(asked):
        path = tmp_path / "request.json"
        path.write_text(json.dumps({"program": asked}))
        return str(path)
    return write


def sentence(main, arguments, capfd):
    """What a command says on standard error when it ends with status 2."""
    assert main(arguments) == 2
    said = capfd.readouterr().err
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("main, arguments", [(serve.main, []), (hunt.main, []), (endtoend.main, [COUNTER]), (confirm.main, [COUNTER])])
def test_an_executorch_without_the_pass(main, arguments, monkeypatch, capfd):
    from executorch.exir.program import _program
    monkeypatch.delattr(_program, "insert_write_back_for_buffers_pass")
    assert "has no insert_write_back_for_buffers_pass" in sentence(main, arguments, capfd)


@pytest.mark.parametrize("main, arguments", [(serve.main, []), (endtoend.main, [COUNTER])])
def test_no_executorch(main, arguments, monkeypatch, capfd):
    for name in ("executorch.exir", "executorch.exir.program", "executorch.exir.passes"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "executorch is not installed" in sentence(main, arguments, capfd)


PACKAGE = pathlib.Path(program.__file__).parent
COMMANDS = sorted(path.stem for path in PACKAGE.glob("*.py") if "\nif __name__" in path.read_text())


def without_torch(arguments, tmp_path):
    """A Python process that finds this package, and no other."""
    (tmp_path / PACKAGE.name).symlink_to(PACKAGE)
    return subprocess.run([sys.executable, "-S", *arguments], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_torch(command, tmp_path):
    done = without_torch(["-m", f"{PACKAGE.name}.{command}"], tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "torch is not installed" in done.stderr


def test_no_torch_for_who_imports_the_package(tmp_path):
    code = f"import {PACKAGE.name} as w\ntry:\n    w.early_write_back\nexcept w.BridgeError as e:\n    print(e)"
    assert "torch is not installed" in without_torch(["-c", code], tmp_path).stdout


@pytest.mark.parametrize("asked, said", [({"graph_module": {}}, "cannot be rebuilt"),
                                         (one_node("torch.ops.aten.no_such_op.default", self="x"), "is not installed"),
                                         (one_node("torch.ops.aten.neg.default", self="z"), "used before it is defined")])
def test_a_program_that_cannot_be_rebuilt(asked, said, request_file, capfd):
    assert said in sentence(confirm.main, [request_file(asked)], capfd)


def test_an_op_without_a_kernel(request_file, capfd):
    assert "no kernel" in sentence(confirm.main, [request_file(one_node("torch.ops.aten._nested_tensor_size.default", self="x"))], capfd)


@pytest.mark.parametrize("main", [endtoend.main, convert.main])
def test_a_file_that_is_no_archive(main, tmp_path, capfd):
    (tmp_path / "empty.pt2").write_bytes(b"")
    assert "torch cannot load" in sentence(main, [str(tmp_path / "empty.pt2")], capfd)


def test_a_file_that_writeback_does_not_read(tmp_path, capfd):
    (tmp_path / "prose.txt").write_text("once upon a time")
    assert "prose.txt" in sentence(confirm.main, [str(tmp_path / "prose.txt")], capfd)


def test_a_folder_without_failures(tmp_path, capfd):
    assert "no failures" in sentence(campaign.main, [str(tmp_path)], capfd)


def test_an_op_that_reinplace_does_not_know(capfd):
    assert "is not installed" in sentence(serve.main, ["--reinplace", "aten.no_such_op.default"], capfd)
