// The script of a report: PyTorch alone, in some hundred lines around the program's own text. It runs the nodes with real tensors
// under the choices that the reference found, once as the meaning says and once as the implementation left the program, and shows
// what the failure claims: that the two differ; that an earlier copy does not; that PyTorch runs what was refused; that a reason is
// wrong. Where values show nothing (a placement before the earliest that is known) there is no script.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fuzz/edit.h"
#include "fuzz/report.h"
#include "ref/graph/cellwise.h"
#include "ref/graph/effects.h"
#include "ref/graph/region.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

constexpr const char* kHead = R"py(#!/usr/bin/env python3
# Shows with PyTorch alone what became of a program whose write-back copies were placed. Needs nothing but torch.
import itertools
import re
import sys
import torch

PROGRAM = """
)py";

constexpr const char* kBody = R"py(
DTYPES = {"f32": torch.float32, "i64": torch.int64, "b8": torch.bool}
VIEW_COPY = re.compile(r"torch\.ops\.aten\.view_copy\.default\((\w+), (\[.*\])\)")


def nodes(program):
    """Name and expression of each node, in order."""
    pattern = r'^ {12}(\w+)(?:: ".*?")? = (.*?)(?:;  .*)?$'
    return {m[1]: m[2] for m in re.finditer(pattern, program.split("Graph signature")[0], re.M)}


def root(name, program):
    """The value that a chain of view_copy starts from: a later pass makes each link a view of that."""
    while (link := VIEW_COPY.fullmatch(program.get(name, ""))):
        name = link.group(1)
    return name


class Branches:
    """`self` of the program: an attribute is a branch of a cond, a function made of the text of its class."""

    def __getattr__(self, name):
        text = re.search(rf"class {name}\(torch.nn.Module\):\n +def forward\(self, (.*)\):\n((?: {{16}}.*\n)+)", PROGRAM)
        names = re.findall(r"(\w+): \"", text.group(1))
        body = [line.split(";  ")[0].strip() for line in text.group(2).splitlines() if not line.strip().startswith("#")]

        def branch(*args):
            values = dict(zip(names, args), torch=torch)
            for line in body[:-1]:
                target, code = re.fullmatch(r"(\w+)(?:: \".*?\")? = (.*)", line).groups()
                values[target] = eval(code, {}, values)
            return eval(body[-1].removeprefix("return "), {}, values)

        return branch


def inputs(seed):
    torch.manual_seed(seed)
    made = {}
    for name, dtype, sizes, host in INPUTS:
        if host is None:
            made[name] = torch.randint(-9, 10, sizes).to(DTYPES[dtype])
        else:
            made[name] = made[host[0]].as_strided(sizes, host[2], host[1])
    return made


def custom(name, sizes, *args):
    """An op of which nothing is known: it may write its arguments, and its result may lie in one of them."""
    values = sum((i + 3) * (a.double().flatten() * torch.arange(1, a.numel() + 1)).sum() for i, a in enumerate(args)) % 97
    for i, a in enumerate(args):
        if CHOICES.get(f"{name}: argument {i}", "").startswith("writes"):
            a.copy_(a * 2 + values.to(a.dtype) + i + 1)
    choice = CHOICES.get(name, "fresh")
    if sizes is None:
        return None
    if choice == "fresh":
        return torch.full(sizes, float(values))
    return inside(args[ARGUMENTS[name][choice.rsplit(" ", 1)[1]]], sizes, choice.startswith("all"))


def inside(whole, sizes, all):
    """A tensor of these sizes in another: all of it, or along its last dimension, or one cell many times."""
    shape = torch.empty(sizes)
    if all and whole.shape == shape.shape:
        return whole
    if all and whole.is_contiguous() and whole.numel() == shape.numel():
        return whole.view(sizes)
    fits = shape.numel() <= (whole.shape or [1])[-1] and shape.numel() < whole.numel()
    step = whole.stride()[-1] if fits else 0
    return whole.as_strided(sizes, [s * step for s in shape.stride()], whole.storage_offset())


def write_over(target, cell_by_cell, result):
    """The result is born in the target: each cell is written before the next is computed, or all before anything is read."""
    if not cell_by_cell:
        target.fill_(77)
        return target.copy_(result())
    for place in itertools.product(*map(range, target.shape)):
        target[place] = result()[place]
    return target


def evaluate(name, program, values, placed):
    text = program[name]
    lowered = placed and LOWERING
    link = VIEW_COPY.fullmatch(text)
    if link and lowered:
        op = "view" if CHOICES.get(f"{name}: lowering") == "lowered" else "view_copy"
        text = f"torch.ops.aten.{op}.default({root(name, program)}, {link.group(2)})"
    if "torch.ops.my." in text:
        text = re.sub(r"torch\.ops\.my\.\w+\.\w+\(", f"custom({name!r}, {SIZES.get(name)}, ", text)
    run = lambda: eval(text, {"torch": torch, "custom": custom, "self": Branches()}, values)
    if placed and name in BORN:
        target, cell_by_cell = BORN[name]
        return write_over(values[target], cell_by_cell, run)
    result = run()
    if CHOICES.get(name) == "copy":
        result = result.clone()
    if lowered and CHOICES.get(f"{name}: allocation") == "shared storage":
        values[SHARED[name]].copy_(result)
        result = values[SHARED[name]]
    return result


def outcome(values, outputs):
    return [o.tolist() for o in outputs] + [values[name].tolist() for name, *_ in INPUTS]


def views(values, outputs):
    """Which outputs lie in the storage of which inputs."""
    where = lambda v: values[v].untyped_storage().data_ptr()
    return {(i, name) for i, v in enumerate(outputs) for name, *_ in INPUTS if where(v) == where(name)}


def meaning(seed):
    """All values and outputs are read, then the targets are written."""
    values = inputs(seed)
    program = nodes(PROGRAM)
    for name in program:
        values[name] = evaluate(name, program, values, False)
    read = [values[v].clone() for _, v in WRITE_BACKS]
    outputs = [values[v].clone() for v in OUTPUTS]
    for (target, value), old in zip(WRITE_BACKS, read):
        values[target].copy_(values[value] if SEQUENTIAL else old)
    return outcome(values, [values[v] for v in OUTPUTS] if SEQUENTIAL else outputs), views(values, OUTPUTS)


def placed(seed):
    """The copies are nodes; later passes have made aliases of what they may."""
    values = inputs(seed)
    program = nodes(PLACED)
    for name in program:
        try:
            values[name] = evaluate(name, program, values, True)
        except (RuntimeError, NameError) as error:  # a copy between tensors that overlap; a value that is not computed yet
            return [str(error).split("\n")[0]], set()
    return outcome(values, [values[v] for v in PLACED_OUTPUTS]), views(values, PLACED_OUTPUTS)


def same(seed):
    (expected, of_inputs), (got, found_of_inputs) = meaning(seed), placed(seed)
    for i, name in found_of_inputs - of_inputs:
        print(f"! output {OUTPUTS[i]} has become a view of {name}")
    if expected != got:
        names = [f"output {v}" for v in OUTPUTS] + [name for name, *_ in INPUTS]
        for name, e, g in zip(names, expected, got):
            print(("  " if e == g else "! ") + f"{name}: expected {e}, got {g}")
    return expected == got and found_of_inputs <= of_inputs

)py";

constexpr const char* kDiffers = R"py(
for seed in range(20):
    if not same(seed):
        print("DIFFERENT: the placement changes what the program computes")
        sys.exit(0)
sys.exit("no difference found in 20 runs")
)py";

constexpr const char* kIsTheSame = R"py(
if not all(same(seed) for seed in range(20)):
    sys.exit("a placement that is said to be right changes what the program computes")
print("THE SAME: with the copies that early, 20 runs give what the program means")
)py";

constexpr const char* kRuns = R"py(
for seed in range(20):
    meaning(seed)
print("RUNS: PyTorch takes the program")
)py";

constexpr const char* kIsExplained = R"py(

def operands(name, program):
    """The names in its expression; an element of a tuple is made of what the tuple is made of."""
    text = program.get(name, "")
    if element := re.fullmatch(r"(\w+)\[\d+\]", text):
        return [element.group(1), *operands(element.group(1), program)]
    return re.findall(r"\w+", text.partition("(")[2])


def leads(a, b, program):
    """Is one made of the other, or are both inputs?"""
    return a == b or a in operands(b, program) or b in operands(a, program) or not {a, b} & set(program)


def writes(node, seed):
    values = inputs(seed)
    program = nodes(PROGRAM)
    for name in program:
        before = {v: t.clone() for v, t in values.items() if isinstance(t, torch.Tensor)}
        values[name] = evaluate(name, program, values, True)
        if name == node:
            return any(not torch.equal(t, values[v]) for v, t in before.items())


wrong = [f"{b} is not made of {a}" for a, b in zip(CHAIN, CHAIN[1:]) if not leads(a, b, nodes(PROGRAM))]
if RULE in ("writes_target", "writes_value", "deadline") and not any(writes(CHAIN[-1], seed) for seed in range(20)):
    wrong.append(f"{CHAIN[-1]} is said to write, and no tensor holds anything else after it")
if not wrong:
    sys.exit("the reason holds in 20 runs")
print("UNEXPLAINED: " + "; ".join(wrong))
)py";

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string numbers(const std::vector<std::int64_t>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

std::vector<std::int64_t> sizes_of(const ValueMeta& meta) {
  std::vector<std::int64_t> sizes;
  if (const TensorMeta* tensor = tensor_meta(meta)) {
    for (const SymInt& s : tensor->sizes) sizes.push_back(s.is_number() ? s.number() : 2);
  }
  return sizes;
}

std::string inputs_of(const Program& program) {
  std::map<ValueId, std::string> hosts;
  for (const auto& group : program.alias_groups) {
    for (const AliasMember& m : group) {
      if (m.value == group.front().value) continue;
      const std::vector<std::int64_t> sizes = sizes_of(program.graph.meta_of(m.value));
      hosts[m.value] =
          fmt::format("(\"{}\", {}, {})", program.graph.name_of(group.front().value), m.geometry ? m.geometry->offset : 0,
                      numbers(m.geometry ? m.geometry->strides : contiguous_strides(sizes)));
    }
  }
  std::string rows;
  for (std::size_t v = 0; v < program.graph.placeholders.size(); ++v) {
    const Placeholder& p = program.graph.placeholders[v];
    const TensorMeta* meta = tensor_meta(p.meta);
    const auto host = hosts.find(value_id(v));
    rows += fmt::format("    (\"{}\", \"{}\", {}, {}),\n", p.name, meta == nullptr ? "f32" : std::string(short_name(meta->dtype)),
                        numbers(sizes_of(p.meta)), host == hosts.end() ? "None" : host->second);
  }
  return "INPUTS = [  # name, dtype, sizes, (whose storage, offset, strides)\n" + rows + "]\n";
}

/// What the ops of no trusted schema do, by the choices; and what those of a trusted one do, by its letters.
std::map<std::string, std::string> choices_of(const Case& c, std::string& arguments, std::string& sizes) {
  std::map<std::string, std::string> choices = c.judged.choices;
  const Effects effects(c.program, c.options);
  for (std::size_t n = 0; n < c.program.graph.nodes.size(); ++n) {
    const Node& node = c.program.graph.nodes[n];
    if (!c.program.target(node).is_op() || c.program.target(node).ns == "aten") continue;
    const auto operands = effects.operands(node_id(n));
    std::string names;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      const std::string& name = c.program.graph.name_of(operands[o].value);
      names += fmt::format("{}: {}, ", quoted(name), o);
      if (operands[o].writes && !effects.has(node_id(n), Trait::opaque))
        choices[fmt::format("{}: argument {}", node.name, o)] = "writes " + name;
    }
    for (const ResultEffect& r : effects.results(node_id(n))) {
      if (r.kind == ResultKind::same) choices[node.name] = "all of " + c.program.graph.name_of(operands[r.operands.front()].value);
    }
    arguments += fmt::format("{}: {{{}}}, ", quoted(node.name), names);
    if (tensor_meta(node.meta) != nullptr) sizes += fmt::format("{}: {}, ", quoted(node.name), numbers(sizes_of(node.meta)));
  }
  return choices;
}

std::string user_outputs(const Program& program) {
  std::string names;
  for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
    const ValueId* v = as_value(program.graph.outputs[i]);
    if (!is_mutation(program.output_specs[i].kind) && v != nullptr) names += quoted(program.graph.name_of(*v)) + ", ";
  }
  return "[" + names + "]";
}

/// Everything around the two programs that a run has to know.
std::string tables(const Case& c) {
  const Graph& graph = c.program.graph;
  std::string arguments, sizes, shared, write_back_rows, choices;
  for (const auto& [name, choice] : choices_of(c, arguments, sizes))
    choices += fmt::format("    {}: {},\n", quoted(name), quoted(choice));
  for (const ShareAllocation& s : c.program.share_allocations) {
    const ValueId* argument = as_value(graph.node(s.node).args[s.argument]);
    if (argument != nullptr) shared += fmt::format("{}: {}, ", quoted(graph.node(s.node).name), quoted(graph.name_of(*argument)));
  }
  for (const WriteBack& w : write_backs(c.program))
    write_back_rows += fmt::format("({}, {}), ", quoted(graph.name_of(w.target)), quoted(graph.name_of(w.value)));
  return inputs_of(c.program) +
         fmt::format("WRITE_BACKS = [{}]  # target, value\nOUTPUTS = {}\n", write_back_rows, user_outputs(c.program)) +
         "CHOICES = {  # what the program leaves open\n" + choices +
         fmt::format("}}\nARGUMENTS = {{{}}}\nSIZES = {{{}}}\nSHARED = {{{}}}\n", arguments, sizes, shared) +
         fmt::format("SEQUENTIAL = {}\n", c.options.semantics == Semantics::sequential ? "True" : "False");
}

/// The results that are born in a target, and whether the op is known to read each cell before it writes it.
std::string births_of(const Program& placed) {
  std::string births;
  for (const Birth& b : placed.births) {
    bool cell_by_cell = true;
    for_each_operand(placed.graph.node(b.node),
                     [&](ValueId v) { cell_by_cell = cell_by_cell && reads_cell_by_cell(placed, b.node, v); });
    births += fmt::format("{}: ({}, {}), ", quoted(placed.graph.node(b.node).name), quoted(placed.graph.name_of(b.target)),
                          cell_by_cell ? "True" : "False");
  }
  return "{" + births + "}";
}

/// How a placed program is run.
std::string running(const Program& placed, bool lowering) {
  return fmt::format("BORN = {}  # results that a target's storage takes, by ops that work cell by cell or not\nLOWERING = {}\n",
                     births_of(placed), lowering ? "True" : "False");
}

/// The program with its copies, to be run beside the meaning.
std::string beside(const Program& placed, bool lowering) {
  return fmt::format("PLACED = \"\"\"\n{}\"\"\"\n\nPLACED_OUTPUTS = {}\n", print_text(placed), user_outputs(placed)) +
         running(placed, lowering);
}

/// The copy's target or value, each step of the reason, and the node that it names.
std::string reason_to_check(const Case& c, const impl::Reason& reason) {
  const WriteBack w = write_backs(c.program)[*c.judged.copy];
  const bool of_value = reason.rule == impl::Rule::writes_value || reason.rule == impl::Rule::deadline;
  std::string chain = quoted(c.program.graph.name_of(of_value ? w.value : w.target)) + ", ";
  for (const ValueId v : reason.via) chain += quoted(c.program.graph.name_of(v)) + ", ";
  chain += quoted(c.program.graph.node(*reason.node).name);
  return fmt::format("RULE = {}\nCHAIN = [{}]  # each made of the one before, or it of that\n",
                     quoted(std::string(name_of(reason.rule))), chain);
}

/// What is particular to the failure: the tables and the lines that show it. Empty where no run shows anything.
std::string shown(const Case& c) {
  const Judged& judged = c.judged;
  const bool lowering = c.options.lowering == Lowering::executorch && !judged.unlowered;
  const bool seen = judged.judgement && judged.judgement->verdict == ref::Verdict::unsafe;
  const std::vector<impl::Reason>& reasons = judged.answer.result.reasons;
  switch (judged.verdict) {
    case Verdict::unsafe:
      return beside(left_by(c), lowering) + kBody + kDiffers;
    case Verdict::unreported:  // of lowering, or of a copy that overwrites the value of another at the end of the graph
      if (seen) return beside(left_by(c), lowering) + kBody + kDiffers;
      return beside(with_explicit_copies(c.program, end_placement(c.program)), false) + kBody + kDiffers;
    case Verdict::late:
      return beside(with_explicit_copies(c.program, judged.earliest), lowering) + kBody + kIsTheSame;
    case Verdict::refused:
    case Verdict::crashed:
    case Verdict::timed_out:
    case Verdict::malformed:
      return kBody + std::string(kRuns);
    case Verdict::unexplained:
      if (!judged.copy || *judged.copy >= reasons.size() || !reasons[*judged.copy].node) return {};
      return reason_to_check(c, reasons[*judged.copy]) + running(c.program, lowering) + kBody + kIsExplained;
    case Verdict::early:
    case Verdict::not_accepted:
    case Verdict::unreadable:
    case Verdict::unrelated:
    case Verdict::right:
    case Verdict::skipped:
      return {};
  }
  return {};
}

}  // namespace

Program left_by(const Case& c) {
  const Answer& answer = c.judged.answer;
  return answer.kind == Answer::Kind::rewritten ? answer.program : with_explicit_copies(c.program, answer.result.placement);
}

std::string report_script(const Case& c) {
  const std::string end = shown(c);
  if (end.empty()) return {};
  return kHead + print_text(c.program) + "\"\"\"\n\n# " + c.judged.reason + "\n" + tables(c) + end;
}

}  // namespace writeback::fuzz
