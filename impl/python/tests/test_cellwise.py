"""The ops of ref/graph/cellwise.cpp, which let a value be born in its operand's place: each one's out= variant, writing exactly over an
operand, gives what it gives beside it. That is asked of torch's own kernels; and the question can be answered by no."""

import pathlib
import re

import honesty
import pytest
import torch

pytestmark = pytest.mark.xdist_group("honesty")  # torch's samples take long to import: in one process

SOURCE = pathlib.Path(__file__).resolve().parents[3] / "ref" / "graph" / "cellwise.cpp"
ELEMENTWISE, UPDATES = (sorted(re.findall(r'"(\w+)"', names)) for names in re.findall(r"names = \{(.*?)\};", SOURCE.read_text(), re.S))


@pytest.fixture(scope="module")
def infos():
    return honesty.samples_of_opinfo()


def variants(name):
    """(functional overload, variant that writes: out= or, where there is none, in place) of an op."""
    packet, in_place = getattr(torch.ops.aten, name), getattr(torch.ops.aten, name + "_", None)
    overloads = [getattr(packet, o) for o in packet.overloads()]
    for op in overloads:
        if op._schema.is_mutable or [str(r.type) for r in op._schema.returns] != ["Tensor"]:
            continue
        found = [o for o in overloads if is_out(o) and declared(o) == declared(op)]
        if not found and in_place and op._overloadname in in_place.overloads():
            found = [getattr(in_place, op._overloadname)]
        yield from ((op, variant) for variant in found)


def is_out(op):
    return any(a.is_out for a in op._schema.arguments)


def declared(op):
    return [(a.name, str(a.type)) for a in op._schema.arguments if not a.is_out]


def calls(op, infos):
    yield from honesty.opinfo_calls(op, infos)
    as_bool = lambda v: v > 0.5 if isinstance(v, torch.Tensor) and v.is_floating_point() else v  # noqa: E731
    for seed in range(honesty.TRIES):
        guessed = honesty.guessed_call(op, seed)
        yield guessed
        yield torch.utils._pytree.tree_map(as_bool, guessed)


def written_over(op, variant, args, kwargs, operand, everywhere):
    """(beside, over): what the op gives beside its operands, and over that one; None where torch refuses the call. `everywhere`: the
    operand stands for every other of its kind too."""
    args, kwargs = honesty.copied((args, kwargs))
    bound = honesty.bind(op, args, kwargs)
    over = bound[operand]
    if everywhere:
        like = lambda v: isinstance(v, torch.Tensor) and v.shape == over.shape and v.dtype == over.dtype  # noqa: E731
        bound = {name: over if like(v) else v for name, v in bound.items()}
    try:
        with torch.no_grad():
            beside = op(**bound)
            if beside.shape != over.shape or beside.dtype != over.dtype or not over.is_contiguous() or over.numel() < 2:
                return None
            return beside, variant(**bound, out=over) if is_out(variant) else variant(**bound)
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
        return None


def compared(name, infos, first_only):
    """(number of comparisons, those that differ) over all overloads of an op."""
    count, different = 0, []
    for op, variant in variants(name):
        for args, kwargs in calls(op, infos):
            bound = honesty.bind(op, args, kwargs)
            operands = [n for n, v in bound.items() if isinstance(v, torch.Tensor) and v.layout == torch.strided]
            for operand in operands[:1] if first_only or not is_out(variant) else operands:
                for everywhere in (False,) if first_only else (False, True):
                    pair = written_over(op, variant, args, kwargs, operand, everywhere)
                    count += pair is not None
                    if pair and not honesty.alike(*pair):
                        different.append((str(op), operand, everywhere))
    return count, different


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_op_may_write_over_any_operand(name, infos):
    count, different = compared(name, infos, first_only=False)
    assert different == []
    assert count > 0


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_may_write_over_its_first_operand(name, infos):
    count, different = compared(name, infos, first_only=True)
    assert different == []
    assert count > 0


@pytest.mark.parametrize("name", ["avg_pool2d", "avg_pool3d"])
def test_what_may_not_is_found(name, infos):
    assert compared(name, infos, first_only=False)[1] != []
