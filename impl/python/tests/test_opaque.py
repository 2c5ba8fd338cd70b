"""Ops without a kernel, which PyTorch is asked about all the same."""

import pytest
import torch
from test_program import one_node

from writeback_executorch import confirm, opaque, program, serve
from writeback_executorch.passes import installed_pass

SCHEMAS = ["bridge_opaque::pure(Tensor x) -> Tensor", "bridge_opaque::update(Tensor(a!) x) -> Tensor(a!)"]


@pytest.fixture(autouse=True)
def declared():
    program.define_ops(SCHEMAS)


def called(name):
    """b_a <- op(x)."""
    return one_node(f"torch.ops.bridge_opaque.{name}.default", x="x")


def outcomes(name, trusted=()):
    """What its behaviours make of x = [2, 2, 2, 2]: (x afterwards, whether the result lies in x)."""
    module, signature = program.read_json(called(name))
    found = set()
    for behaviour in opaque.behaviours(module, trusted):
        x = torch.full((4,), 2.0)
        state, _ = confirm.meaning(module, signature, [torch.zeros(4), x], behaviour)
        found.add((x[0].item(), torch.equal(state["a"], x)))
    return found


def test_an_op_that_is_not_trusted_does_more_than_its_schema_says():
    assert outcomes("pure") == {(2, False), (2, True), (3, False), (3, True)}


def test_one_that_is_trusted_does_what_its_schema_says():
    assert outcomes("pure", ["bridge_opaque"]) == {(2, False)}
    assert outcomes("update", ["bridge_opaque"]) == {(3, True)}


def test_a_dropped_call_of_an_op_that_may_write_is_confirmed():
    """The released pass takes an op whose result nobody uses for dead."""
    given = called("pure")
    given["graph_module"]["graph"]["outputs"], given["graph_module"]["signature"]["output_specs"] = [], []
    request = {"program": given, "schemas": SCHEMAS}
    reply = serve.Server(installed_pass()).reply(request)
    said, _ = confirm.confirmed(request, reply)
    assert said.startswith("x afterwards")
    assert confirm.confirmed({**request, "options": {"trust": ["bridge_opaque"]}}, reply) is None
