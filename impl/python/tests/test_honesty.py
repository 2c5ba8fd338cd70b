"""The effects of the operators, against real tensors; and that the comparison can fail."""

import copy
import os

import honesty
import pytest
import torch

pytestmark = pytest.mark.xdist_group("honesty")  # torch's samples take long to import: in one process


@pytest.fixture(scope="module")
def rows():
    return honesty.effects(None)


def told_truly(rows, capsys):
    """Asks torch about these rows; prints the counts, names the lies."""
    verdicts = list(honesty.run(rows))
    result = honesty.summary(rows, verdicts)
    with capsys.disabled():
        print("\nhonesty:", {k: v for k, v in result.items() if k != "lies"})
    assert result["lies"] == {}
    return result


def test_no_effect_claims_too_little(rows, capsys):
    """Every operator that a table corrects, and every tenth of those whose schema is believed."""
    testable = list(filter(honesty.is_testable, rows))
    corrected = [r for r in testable if r["source"] != "schema"]
    believed = [r for r in testable if r["source"] == "schema"][::10]
    assert told_truly(corrected + believed, capsys)["compared"] > 400


@pytest.mark.long
def test_no_effect_of_any_operator_claims_too_little(rows, capsys):
    assert told_truly(list(filter(honesty.is_testable, rows)), capsys)["compared"] > 2000


PLANTED = {
    "aten::reshape": lambda rule: rule["results"][0].update(kind="fresh", of=[]),
    "aten::view": lambda rule: rule["results"][0].update(kind="fresh", of=[]),
    "aten::clone": lambda rule: rule["results"][0].update(kind="alias", of=["self"]),
    "aten::add.Tensor": lambda rule: rule["reads"].remove("other"),
    "aten::add_.Tensor": lambda rule: rule["writes"].remove("self"),
    "aten::rand_like": lambda rule: rule["traits"].remove("random"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_lie_is_found(rows, name):
    row = copy.deepcopy(next(r for r in rows if r["op"] == name))
    assert [v["lies"] for v in honesty.run([row])] == [{}]
    for rule in row["rules"]:
        PLANTED[name](rule)
    assert [bool(v["lies"]) for v in honesty.run([row])] == [True]


def test_an_operator_that_ends_the_process_is_survived(rows):
    library = torch.library.Library("bridge_crash", "FRAGMENT")
    library.define("abort(Tensor x) -> Tensor")
    library.impl("abort", lambda x: os.abort(), "CPU")
    named = {"aten::neg": "judged", "bridge_crash::abort": "crashes on an argument drawn"}
    neg = next(r for r in rows if r["op"] == "aten::neg")
    crash = {**copy.deepcopy(neg), "op": "bridge_crash::abort"}
    verdicts = list(honesty.run([neg, crash, neg]))
    assert [named[v["op"]] for v in verdicts] == [v["why"] or "judged" for v in verdicts]
    assert [v["op"] for v in verdicts] == ["aten::neg", "bridge_crash::abort", "aten::neg"]
