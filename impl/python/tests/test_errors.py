"""Whatever is missing or wrong is told in a sentence and by exit status 2, by every command that can meet it."""

import json
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


@pytest.mark.parametrize("asked, said", [({"graph_module": {}}, "cannot be rebuilt"),
                                         (one_node("torch.ops.aten.no_such_op.default", self="x"), "is not installed"),
                                         (one_node("torch.ops.aten.neg.default", self="z"), "used before it is defined")])
def test_a_program_that_cannot_be_rebuilt(asked, said, request_file, capfd):
    assert said in sentence(confirm.main, [request_file(asked)], capfd)


def test_an_op_without_a_kernel(request_file, capfd):
    program.define_ops(["bridge_test::only_declared(Tensor x) -> Tensor"])
    asked = request_file(one_node("torch.ops.bridge_test.only_declared.default", x="x"))
    assert "no kernel" in sentence(confirm.main, [asked], capfd)


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
