"""early_write_back() on real programs in ExecuTorch's runtime: eager's numbers, fewer bytes, never silently wrong."""

import modules
import pytest
import torch
from conftest import MODELS

from writeback_executorch import early_write_back, endtoend, memory, tool
from writeback_executorch.errors import BridgeError

EARLY = {"correct_specs": False, "correct_lifetimes": True, "forward": False, "coalesce": False}
CORRECTED = {"forward": False, "coalesce": False}
FORWARDED = {"coalesce": False}
NOT_LOWERED = {"batch_norm_training": "Missing out variants", "no_inputs": "to_edge refuses", "shared_storage": "to_edge refuses"}
LOWERED = sorted(p.stem for p in MODELS.glob("*.pt2") if "." not in p.stem and p.stem not in NOT_LOWERED and p.stem != "decoder")


@pytest.mark.parametrize("name", LOWERED)
def test_models_give_eagers_numbers_whatever_is_switched_on(name, models):
    exported = torch.export.load(models / f"{name}.pt2")
    edge = endtoend.to_edge_manager(exported)
    for switches in (EARLY, CORRECTED, FORWARDED, {}):
        found, manager, _ = endtoend.compare(exported, switches, edge=edge)
        assert found is None, switches
        assert memory.planned(manager) >= memory.bound(manager)


@pytest.mark.parametrize("name", NOT_LOWERED)
def test_models_that_executorch_refuses_are_refused_in_a_sentence(name, models):
    with pytest.raises(BridgeError, match=NOT_LOWERED[name]):
        endtoend.compare(torch.export.load(models / f"{name}.pt2"), {})


def test_the_decoder_plans_88_percent_less_beyond_its_caches(models):
    edge = endtoend.to_edge_manager(torch.export.load(models / "decoder.pt2"))
    released, _, _ = endtoend.lower(edge)
    early, _, done = endtoend.lower(edge, {})
    caches = memory.state_bytes(released)
    assert caches == 524288
    assert memory.planned(early) - caches <= 0.12 * (memory.planned(released) - caches)
    assert len(done.born_in_target) == 16
    exported = torch.export.load(models / "decoder.pt2")
    assert endtoend._compare_run(exported, early, [], [endtoend.random_inputs(exported, seed) for seed in range(3)]) is None


SILENTLY_WRONG = {"biquad", "delay_two", "lattice", "double_buffer", "swap", "rotate_three", "sgd_momentum", "adam", "parameter_update",
                  "saves_old_through_view"}


@pytest.mark.parametrize("name", modules.MODULES)
def test_ordinary_modules_are_right_or_refused_and_plan_no_more(name):
    exported = modules.export(name)
    try:
        edge = endtoend.to_edge_manager(exported)
    except BridgeError:
        assert name == "generator"  # ExecuTorch lifts its constants to wrong names
        return
    inputs = [list(modules.eval_module(name)[1])] + [endtoend.random_inputs(exported, seed) for seed in (1, 2)]
    found, early, _ = endtoend.compare(exported, {}, inputs=inputs, edge=edge)
    assert found is None
    wrong, released, _ = endtoend.compare(exported, None, inputs=inputs, edge=edge)
    assert (wrong is not None) == (name in SILENTLY_WRONG), wrong
    assert memory.planned(early) <= memory.planned(released) or wrong


def test_a_mutated_input_outlives_its_copy():
    """An input that is written early and not read again may not be overwritten before it is returned."""

    class Step(torch.nn.Module):
        def forward(self, state, x):
            state.copy_(state + x)
            return torch.cat([x * 2, x * 3, x * 4, x * 5])  # all alive at once: one of them takes the place of a dead input

    exported = torch.export.export(Step(), (torch.ones(4), torch.ones(4)))
    assert endtoend.compare(exported, {})[0] is None
    with_fault = {"correct_lifetimes": False}
    assert "input state after" in (endtoend.compare(exported, with_fault)[0] or "")


def test_the_drop_in_leaves_executorch_as_it_was():
    from executorch.exir.program import _program
    before = _program.insert_write_back_for_buffers_pass
    with early_write_back():
        assert _program.insert_write_back_for_buffers_pass is not before
    assert _program.insert_write_back_for_buffers_pass is before


def test_without_the_program_the_drop_in_says_so(monkeypatch, models):
    monkeypatch.setenv("WRITEBACK", "/nowhere/writeback")
    with pytest.raises(BridgeError, match="could not be run"):
        endtoend.compare(torch.export.load(models / "counter.pt2"), {})


def test_the_program_is_the_one_of_this_environment():
    assert "copies" in tool.place("""
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        return (x,)
""")
