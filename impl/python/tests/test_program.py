"""Programs to PyTorch and back: nothing is lost on the way, and what cannot be rebuilt is told in a sentence."""

import json
import operator

import pytest
import torch
from conftest import MODELS

from writeback_executorch import endtoend, program
from writeback_executorch.errors import BridgeError

ARCHIVES = sorted(p for p in MODELS.glob("*.pt2") if not p.name.startswith("decoder"))


def calls(graph):
    """The nodes of a graph, getitems that nobody uses left out (the schema does not keep them)."""
    kept = [n for n in graph.nodes if n.users or n.op == "output" or n.target is not operator.getitem]
    return [(n.op, n.name, str(n.target), str(tuple(n.args)).replace("(", "[").replace(")", "]"), str(n.kwargs)) for n in kept]


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda p: p.stem)
def test_json_keeps_every_node_and_spec(path):
    exported = torch.export.load(path)
    written = program.write_json(exported.graph_module, exported.graph_signature)
    module, signature = program.read_json(json.loads(json.dumps(written)))
    assert calls(module.graph) == calls(exported.graph)
    assert str(signature) == str(exported.graph_signature)
    assert program.write_json(module, signature)["graph_module"]["signature"] == written["graph_module"]["signature"]


def test_edge_dialect_comes_back_as_edge_dialect(models):
    exported = endtoend.to_edge_manager(torch.export.load(models / "state_through_view.pt2")).exported_program()
    module, _ = program.read_json(program.write_json(exported.graph_module, exported.graph_signature))
    assert [n.target for n in module.graph.nodes] == [n.target for n in exported.graph.nodes]
    assert sum(program.is_edge(n.target) for n in module.graph.nodes) == 6


def test_text_tells_which_buffers_share_a_storage(models):
    text = program.text_of(torch.export.load(models / "shared_storage.pt2"))
    assert "# alias: b_low = b_whole[0; 4; 1]\n" in text
    assert "# alias: b_high = b_whole[4; 4; 1]\n" in text


def test_text_has_strides(models):
    assert '"f32[1, 2, 8, 4][64, 32, 4, 1]"' in program.text_of(torch.export.load(models / "kv_cache_index_put.pt2"))


def one_node(target, **inputs):
    """A program of one buffer, one input, one node."""
    meta = {"dtype": 7, "sizes": [{"as_int": 4}], "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}
    arguments = [{"name": n, "arg": {"as_tensor": {"name": v}}, "kind": 1} for n, v in inputs.items()]
    graph = {"inputs": [{"as_tensor": {"name": "b_a"}}, {"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}],
             "nodes": [{"target": target, "inputs": arguments, "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}],
             "tensor_values": {"b_a": meta, "x": meta, "y": meta}, "sym_int_values": {}, "sym_bool_values": {}}
    signature = {"input_specs": [{"buffer": {"arg": {"name": "b_a"}, "buffer_name": "a", "persistent": True}},
                                 {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
                 "output_specs": [{"buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "a"}}]}
    return {"graph_module": {"graph": graph, "signature": signature}}


@pytest.mark.parametrize("broken, said", [
    (one_node("torch.ops.aten.no_such_op.default", self="x"), "is not installed"),
    (one_node("torch.ops.nowhere.neg.default", self="x"), "is not installed"),
    (one_node("torch.ops.aten.neg.default", self="z"), "used before it is defined"),
    ({"graph_module": {}}, "cannot be rebuilt"),
])
def test_what_cannot_be_rebuilt_is_a_sentence(broken, said):
    with pytest.raises(BridgeError, match=said):
        program.read_json(broken)


def test_custom_ops_are_defined_by_their_schemas():
    program.define_ops(["bridge_test::touch(Tensor x) -> Tensor"])
    module, _ = program.read_json(one_node("torch.ops.bridge_test.touch.default", x="x"))
    assert "bridge_test.touch" in str(module.graph)
