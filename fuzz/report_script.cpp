// The script of a report: PyTorch alone, in some forty lines around the program's own text. It runs the nodes with real tensors
// under the choices that the reference found, once as the meaning says and once with the copies where the implementation put them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fuzz/report.h"
#include "ref/graph/effects.h"
#include "ref/graph/region.h"
#include "ref/graph/text.h"

namespace writeback::fuzz {
namespace {

constexpr const char* kHead = R"py(#!/usr/bin/env python3
# Shows with PyTorch alone that a placement of write-back copies changes what a program computes. Needs nothing but torch.
import re
import sys
import torch

PROGRAM = """
)py";

constexpr const char* kBody = R"py(
DTYPES = {"f32": torch.float32, "i64": torch.int64, "b8": torch.bool}
NODES = [m.groups() for m in re.finditer(r'^ {12}(\w+)(?:: ".*?")? = (.*?)(?:;  .*)?$', PROGRAM.split("Graph signature")[0], re.M)]
LOOKUP = dict(NODES)
VIEW_COPY = re.compile(r"torch\.ops\.aten\.view_copy\.default\((\w+), (\[.*\])\)")


def root(name):
    """The value that a chain of view_copy starts from: a later pass makes each link a view of that."""
    while (link := VIEW_COPY.fullmatch(LOOKUP.get(name, ""))):
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
    base = ARGUMENTS[name][choice.rsplit(" ", 1)[1]]
    return args[base].as_strided(sizes, torch.empty(sizes).stride(), args[base].storage_offset())


def evaluate(name, text, values, lowered):
    link = VIEW_COPY.fullmatch(text)
    if link and lowered and LOWERING:
        op = "view" if CHOICES.get(f"{name}: lowering") == "lowered" else "view_copy"
        text = f"torch.ops.aten.{op}.default({root(name)}, {link.group(2)})"
    if "torch.ops.my." in text:
        text = re.sub(r"torch\.ops\.my\.\w+\.\w+\(", f"custom({name!r}, {SIZES.get(name)}, ", text)
    result = eval(text, {"torch": torch, "custom": custom, "self": Branches()}, values)
    if CHOICES.get(name) == "copy":
        result = result.clone()
    if lowered and CHOICES.get(f"{name}: allocation") == "shared storage":
        values[SHARED[name]].copy_(result)
        result = values[SHARED[name]]
    return result


def outcome(values, outputs):
    return [o.tolist() for o in outputs] + [values[name].tolist() for name, *_ in INPUTS]


def meaning(seed):
    """All values and outputs are read, then the targets are written."""
    values = inputs(seed)
    for name, text in NODES:
        values[name] = evaluate(name, text, values, False)
    read = [values[v].clone() for _, v in WRITE_BACKS]
    outputs = [values[v].clone() for v in OUTPUTS]
    for (target, value), old in zip(WRITE_BACKS, read):
        values[target].copy_(values[value] if SEQUENTIAL else old)
    return outcome(values, [values[v] for v in OUTPUTS] if SEQUENTIAL else outputs)


def placed(seed):
    """Each copy runs where the implementation put it; later passes have made aliases of what they may."""
    values = inputs(seed)
    for slot, (name, text) in enumerate([(None, None)] + NODES):
        if name:
            values[name] = evaluate(name, text, values, True)
        for kind, to, source in EVENTS.get(slot, []):
            if kind == "clone":
                values[to] = values[source].clone()
            else:
                values[to].copy_(values[source])
    return outcome(values, [values[READ_FIRST.get(i, v)] for i, v in enumerate(OUTPUTS)])


for seed in range(20):
    expected = meaning(seed)
    try:
        got = placed(seed)
    except RuntimeError as error:  # torch refuses a copy between tensors that overlap
        got = [str(error).split("\n")[0]]
    except KeyError as error:
        got = [f"{error} is copied before it is computed"]
    if expected != got:
        names = [f"output {v}" for v in OUTPUTS] + [name for name, *_ in INPUTS]
        for name, e, g in zip(names, expected, got):
            print(("  " if e == g else "! ") + f"{name}: expected {e}, got {g}")
        print("DIFFERENT: the placement changes what the program computes")
        sys.exit(0)
sys.exit("no difference found in 20 runs")
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

/// What happens at each slot, in order.
std::string events_of(const Program& program, const Placement& placement) {
  const std::vector<WriteBack> all = write_backs(program);
  std::map<Position, std::string> events;
  for (const Temporary& t : placement.temporaries)
    events[t.at] = fmt::format("(\"clone\", \"{}\", \"{}\")", t.name, program.graph.name_of(t.of));
  for (std::size_t c = 0; c < all.size(); ++c) {
    const PlacedCopy& copy = placement.copies[c];
    if (copy.in_place) continue;
    const std::string& source = copy.temporary ? placement.temporaries[*copy.temporary].name : program.graph.name_of(all[c].value);
    events[copy.at] = fmt::format("(\"copy\", \"{}\", \"{}\")", program.graph.name_of(all[c].target), source);
  }
  std::map<std::size_t, std::string> by_slot;
  for (const auto& [at, event] : events) by_slot[index_of(at.slot)] += event + ", ";
  std::string rows;
  for (const auto& [slot, list] : by_slot) rows += fmt::format("    {}: [{}],\n", slot, list.substr(0, list.size() - 2));
  return "EVENTS = {  # after so many nodes: (clone, new name, value) or (copy, target, value)\n" + rows + "}\n";
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

}  // namespace

bool has_script(const Case& c) {
  return c.judged.verdict == Verdict::unsafe && c.judged.answer.result.placement.copies.size() == write_backs(c.program).size();
}

std::string report_script(const Case& c) {
  if (!has_script(c)) return {};
  const Placement& placement = c.judged.answer.result.placement;
  const std::vector<WriteBack> all = write_backs(c.program);
  const Graph& graph = c.program.graph;
  std::string arguments, sizes, shared, write_back_rows, outputs, read_first;
  std::string choices;
  for (const auto& [name, choice] : choices_of(c, arguments, sizes))
    choices += fmt::format("    {}: {},\n", quoted(name), quoted(choice));
  for (const ShareAllocation& s : c.program.share_allocations) {
    const ValueId* argument = as_value(graph.node(s.node).args[s.argument]);
    if (argument != nullptr) shared += fmt::format("{}: {}, ", quoted(graph.node(s.node).name), quoted(graph.name_of(*argument)));
  }
  for (const WriteBack& w : all)
    write_back_rows += fmt::format("({}, {}), ", quoted(graph.name_of(w.target)), quoted(graph.name_of(w.value)));
  std::uint32_t user_output = 0;
  for (std::uint32_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId* v = as_value(graph.outputs[i]);
    if (is_mutation(c.program.output_specs[i].kind) || v == nullptr) continue;
    outputs += quoted(graph.name_of(*v)) + ", ";
    for (const OutputReadFirst& r : placement.outputs_read_first) {
      if (r.output == i) read_first += fmt::format("{}: {}, ", user_output, quoted(placement.temporaries[r.temporary].name));
    }
    ++user_output;
  }
  return kHead + print_text(c.program) + "\"\"\"\n\n# " + c.judged.reason + "\n" + inputs_of(c.program) +
         fmt::format("WRITE_BACKS = [{}]  # target, value\nOUTPUTS = [{}]\n", write_back_rows, outputs) +
         events_of(c.program, placement) + fmt::format("READ_FIRST = {{{}}}  # outputs that are temporaries\n", read_first) +
         "CHOICES = {  # what the program leaves open\n" + choices +
         fmt::format("}}\nARGUMENTS = {{{}}}\nSIZES = {{{}}}\nSHARED = {{{}}}\n", arguments, sizes, shared) +
         fmt::format("LOWERING = {}\nSEQUENTIAL = {}\n", c.options.lowering == Lowering::executorch ? "True" : "False",
                     c.options.semantics == Semantics::sequential ? "True" : "False") +
         kBody;
}

}  // namespace writeback::fuzz
