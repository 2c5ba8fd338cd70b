"""The line protocol around a pass."""

import json
import subprocess
import sys

import pytest
import torch
from test_program import one_node

from writeback_executorch import program, serve
from writeback_executorch.passes import installed_pass


def targets(reply):
    return [n["target"].split(".")[-2] for n in reply["program"]["graph_module"]["graph"]["nodes"]]


def test_the_installed_pass_puts_its_copy_at_the_end():
    reply = serve.Server(installed_pass()).reply({"program": one_node("torch.ops.aten.neg.default", self="x")})
    graph = reply["program"]["graph_module"]["graph"]
    assert targets(reply) == ["neg", "copy_"]
    assert graph["nodes"][-1]["inputs"][0]["arg"] == {"as_tensor": {"name": "b_a"}}
    assert reply["program"]["graph_module"]["signature"]["output_specs"][0]["buffer_mutation"]["arg"] == graph["outputs"][0]["as_tensor"]


def test_the_pipeline_lowers_view_copy(models):
    exported = torch.export.load(models / "delay_through_view.decomposed.pt2")
    for node in exported.graph.nodes:
        if node.target is torch.ops.aten.view.default:
            node.target = torch.ops.aten.view_copy.default
    request = {"program": program.write_json(exported.graph_module, exported.graph_signature)}
    assert "view_copy" in targets(serve.Server(installed_pass()).reply(request))
    assert "view" in targets(serve.Server(installed_pass(), pipeline=True).reply(request))


def overwritten_though_returned():
    """t = neg(x); u = index_put(t, ...): both are returned, and ExecuTorch's reinplace pass looks at nodes alone, not at outputs."""
    given = one_node("torch.ops.aten.neg.default", self="x")
    graph, signature = (given["graph_module"][part] for part in ("graph", "signature"))
    put = one_node("torch.ops.aten.index_put.default", self="y", values="x")["graph_module"]["graph"]["nodes"][0]
    put["inputs"].insert(1, {"name": "indices", "arg": {"as_optional_tensors": [{"as_tensor": {"name": "i"}}]}, "kind": 1})
    put["outputs"] = [{"as_tensor": {"name": "u"}}]
    graph["nodes"].append(put)
    graph["tensor_values"]["u"] = graph["tensor_values"]["x"]
    graph["tensor_values"]["i"] = {**graph["tensor_values"]["x"], "dtype": 5}
    graph["inputs"].append({"as_tensor": {"name": "i"}})
    signature["input_specs"].append({"user_input": {"arg": {"as_tensor": {"name": "i"}}}})
    graph["outputs"].append({"as_tensor": {"name": "u"}})
    signature["output_specs"].append({"user_output": {"arg": {"as_tensor": {"name": "u"}}}})
    return given


def test_reinplace_runs_before_the_pass_and_in_edge_dialect():
    reply = serve.Server(installed_pass(), reinplace=frozenset()).reply({"program": overwritten_though_returned()})
    assert targets(reply) == ["neg", "index_put_", "copy_"]
    assert "dialects.edge" in reply["program"]["graph_module"]["graph"]["nodes"][1]["target"]
    extra = program.edge_targets(["aten.neg.default"])
    plain = {"program": one_node("torch.ops.aten.neg.default", self="b_a")}
    assert targets(serve.Server(installed_pass(), reinplace=extra).reply(plain)) == ["neg_"]


def test_whatever_a_pass_raises_is_an_error_in_a_sentence():
    def raises(exported):
        raise ValueError("no\nway")
    assert serve.Server(raises).reply({"program": one_node("torch.ops.aten.neg.default", self="x")}) == \
        {"error": "the pass raised ValueError: no"}


def test_a_process_answers_every_line_whatever_it_holds(tmp_path):
    (tmp_path / "noisy.py").write_text("from writeback_executorch.passes import installed_pass\n"
                                       "def insert_write_back_for_buffers_pass(program):\n"
                                       "    print('noise')\n"
                                       "    return installed_pass()(program)\n")
    lines = [json.dumps({"program": one_node("torch.ops.aten.neg.default", self="x")}), "{", "[]", "{}",
             json.dumps({"program": one_node("torch.ops.aten.gone.default", self="x")})]
    done = subprocess.run([sys.executable, "-m", "writeback_executorch.serve", "--pass-file", tmp_path / "noisy.py"],
                          input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(r)) for r in replies] == ["program", "error", "error", "error", "error"]
    assert "is not installed" in replies[-1]["error"]


@pytest.mark.parametrize("arguments, said", [(["--pass", "no_such_module:f"], "no_such_module"),
                                             (["--pass", "json:nothing"], "no function nothing"),
                                             (["--pass-file", "nowhere.py"], "no such Python file")])
def test_a_pass_that_is_not_there_is_a_sentence(arguments, said, capfd):
    assert serve.main(arguments) == 2
    assert said in capfd.readouterr().err
