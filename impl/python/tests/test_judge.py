"""PyTorch as judge: of the interpreter, of the placement, of the passes; and the judges themselves can say no."""

import collections
import json
import os
import pathlib

import pytest
import torch

from writeback_executorch import confirm, early, hunt, judge, program, randoms, serve, tool
from writeback_executorch.passes import installed_pass

PROGRAMS = int(os.environ.get("WRITEBACK_JUDGED_PROGRAMS", "10000"))


def test_random_programs_have_the_interpreters_values_and_the_placements_meaning():
    counts, failures = judge.judge_many(0, PROGRAMS)
    print(dict(counts))
    assert failures == []
    assert counts["values"] > 10 * PROGRAMS
    assert counts["placed runs"] > 2 * PROGRAMS


def test_random_programs_cover_what_they_are_for():
    drawn = [randoms.draw(seed)[0] for seed in range(300)]
    ops = collections.Counter(n.op for p in drawn for n in p.nodes)
    for wanted in ("aten.view_copy.default", "aten.slice.Tensor", "aten.add_.Tensor", "aten.add.out", "aten._foreach_add_.Scalar", "getitem",
                   "aten.as_strided.default", "aten.reshape.default", "aten.select_scatter.default"):
        assert ops[wanted] > 5, wanted
    assert sum(bool(q.base) for p in drawn for q in p.placeholders) > 20
    written = [(p, w, v) for p in drawn for w, v in p.write_backs]
    assert sum(v in {q.name for q in p.placeholders} for p, _, v in written) > 50
    assert sum(o in {w.name for w, _ in p.write_backs} for p in drawn for o in p.outputs) > 10


def test_a_copy_one_node_too_early_is_noticed():
    caught = 0
    for seed in range(60):
        drawn, inputs = randoms.draw(seed)
        wrong = {"start": [("copy", p.name, v) for p, v in drawn.write_backs if v in {q.name for q in drawn.placeholders}]}
        if wrong["start"]:
            try:
                caught += judge.difference(drawn, drawn.execute(inputs, wrong), drawn.execute(inputs)) is not None
            except (RuntimeError, randoms.Refused):
                caught += 1
    assert caught > 10


def test_a_wrong_value_of_the_interpreter_is_noticed():
    drawn, inputs = randoms.draw(3)
    born, outputs, final = drawn.execute(inputs)
    answer = {"trace": [{"name": n, "results": [judge.as_list(t)]} for n, t in born.items()],
              "outputs": [judge.as_list(t) for t in outputs], "state": {n: judge.as_list(t) for n, t in final.items()}}
    assert judge.check_interpreter(drawn, answer, (born, outputs, final)) is None
    first = answer["trace"][0]
    first["results"][0][0] += 1
    assert first["name"] in judge.check_interpreter(drawn, answer, (born, outputs, final))


def test_the_hunt_finds_what_the_installed_pass_breaks():
    found = {f.kind: f for f in hunt.hunt(installed_pass(), 0, 320, 6)}
    assert "a write-back from a buffer to another is dropped" in found
    assert "a buffer is not given a view of a buffer that is written too" in found
    assert len(found) >= 6
    for finding in found.values():
        assert finding.text.count("torch.ops.") <= 3
        assert finding.end_to_end.startswith("different") or "signature" in finding.kind, finding


def test_the_hunt_finds_nothing_in_our_own_placement():
    ours = early.EarlyWriteBack(forward=False, coalesce=False)
    assert hunt.hunt(ours.write_back, 0, 150, 6) == []


def test_forwarding_keeps_the_meaning_on_random_programs():
    """Coalescing is left out: that a value is born in its target is the planner's doing, so only the runtime can judge it."""
    def saved(exported):
        return early.EarlyWriteBack(coalesce=False).write_back(exported)
    assert hunt.hunt(saved, 1000, 100, 6) == []


FOUND = sorted((pathlib.Path(__file__).parents[1] / "findings").glob("*.txt"))


@pytest.mark.parametrize("path", FOUND, ids=lambda p: p.stem)
def test_the_findings_that_are_kept_are_still_true(path):
    """Those whose name begins with reinplace need that pass before."""
    request, reinplace = confirm.asked(path), frozenset() if path.stem.startswith("reinplace") else None
    assert confirm.confirmed(request, serve.Server(installed_pass(), reinplace=reinplace).reply(request)) is not None
    ours = early.EarlyWriteBack(forward=False, coalesce=False).write_back
    assert confirm.confirmed(request, serve.Server(ours).reply(request)) is None


def test_confirm_says_no_only_where_something_differs():
    drawn, _ = randoms.draw(5, 6, functional=True)
    before = program.write_json(*drawn.graph())
    end = serve.Server(early.EarlyWriteBack(forward=False, coalesce=False).write_back).reply({"program": before})
    assert confirm.first_difference(before, end["program"]) is None
    changed = program.write_json(*drawn.graph())
    assert (confirm.first_difference(before, changed) is not None) == bool(drawn.write_backs)


def rewritten(nodes, output):
    """A program of one buffer and one input, and the text of its nodes and outputs, as a request has it."""
    text = (f'def forward(self, b_a: "f32[4]", x: "f32[4]"):\n{nodes}    return ({output},)\n'
            f"Graph signature:\n# inputs\nb_a: BUFFER target='a' persistent=True\nx: USER_INPUT\n# outputs\n{output}: ")
    return lambda kind: json.loads(tool.run(["place", "-", "--emit", "request"], text + kind + "\n"))["program"]


def test_confirm_sees_an_output_that_has_become_a_view():
    fresh = rewritten('    y: "f32[4]" = torch.ops.aten.clone.default(x)\n', "y")("USER_OUTPUT")
    view = rewritten('    y: "f32[4]" = torch.ops.aten.view.default(x, [4])\n', "y")("USER_OUTPUT")
    assert confirm.first_difference(fresh, view) == "user output 0 has become a view of an input"
    assert confirm.first_difference(view, view) is None
    through = '    t: "f32[4]" = torch.ops.aten.%s.default(x, [4])\n    y: "f32[4]" = torch.ops.aten.view.default(t, [4])\n'
    assert confirm.first_difference(rewritten(through % "view_copy", "y")("USER_OUTPUT"), rewritten(through % "view", "y")("USER_OUTPUT")) is None


def test_confirm_sees_a_copy_that_overlaps_what_it_reads():
    node = '    y: "f32[]" = torch.ops.aten.select.int(b_a, 0, 0)\n'
    before = rewritten(node, "y")("BUFFER_MUTATION target='a'")
    after = serve.Server(installed_pass()).reply({"program": before})["program"]
    assert confirm.first_difference(before, after).startswith("a copy overlaps what it reads")


@pytest.mark.parametrize("name, dtype", [("b_a", torch.int64)])
def test_alias_groups_share_their_cells(name, dtype):
    drawn = next(p for p in (randoms.draw(s)[0] for s in range(200)) if any(q.base for q in p.placeholders))
    inputs = {p.name: torch.zeros(p.sizes, dtype=p.dtype) for p in drawn.placeholders}
    made = drawn.storages(inputs)
    member = next(p for p in drawn.placeholders if p.base)
    assert made[member.name].untyped_storage()._cdata == made[member.base].untyped_storage()._cdata
