"""A finding: a program that a write-back pass breaks, its kind in a sentence, and the page that shows findings.

The kind says what comes out wrong and where its value comes from, so that two programs of a kind are broken in the same way. It is read
from the program and from the sentence of confirm.py, and is a name, not a diagnosis.
"""

import dataclasses

from torch.export.graph_signature import InputKind

from . import endtoend, opaque
from .effects import arguments_of, is_view_copy
from .errors import BridgeError
from .placement import MUTATIONS

NAMES = {InputKind.BUFFER: "a buffer", InputKind.PARAMETER: "a parameter", InputKind.USER_INPUT: "an input",
         InputKind.CONSTANT_TENSOR: "a constant"}


@dataclasses.dataclass
class Finding:
    kind: str
    text: str            # the program
    said: str            # what differs
    lowered: bool        # only seen once view_copy has become an alias
    end_to_end: str = ""
    file: str = ""       # its name in the folder of findings


def is_functional(module):
    """No true views, no in-place ops, no out=: what ExecuTorch's to_edge makes of any program."""
    return not any(argument is not None and argument.alias_info is not None
                   for node in module.graph.nodes if node.op == "call_function" for argument, _ in arguments_of(node))


def _origin(node):
    """The value that a chain of views starts from, and whether there is a chain."""
    through = False
    while node.op == "call_function" and node.args and hasattr(node.args[0], "op"):
        first = next(iter(arguments_of(node)), (None, None))[0]
        is_view = first is not None and first.alias_info is not None and not first.alias_info.is_write
        if not is_view and not is_view_copy(node):
            break
        node, through = node.args[0], True
    return node, through


def kind_of(module, signature, said):
    """One sentence for a kind of failure, from what differs and where its value comes from."""
    if "user outputs expected" in said:
        return "the number of user outputs changes"
    if said.startswith("the signature"):
        return "the signature that is left contradicts the outputs"
    if said.startswith("a copy overlaps"):
        return "a value is copied onto an input that it overlaps"
    if "has become a view" in said:
        return "a user output becomes a view of an input"
    specs = {s.arg.name: s for s in signature.input_specs}
    keys = {s.target if s.kind is not InputKind.USER_INPUT else s.arg.name: s for s in signature.input_specs}
    outputs = list(zip(signature.output_specs, module.graph.output_node().args[0]))
    written = {keys[s.target].arg.name for s, _ in outputs if s.kind in MUTATIONS}

    def described(node):
        node, through = _origin(node)
        name = NAMES[specs[node.name].kind] + (" that is written too" if node.name in written else "") if node.name in specs else \
            "a computed value"
        return "a view of " + name if through else name

    if said.startswith("user output"):
        number = int(said.split()[2].rstrip(":"))
        return f"a user output that is {described([v for s, v in outputs if s.kind not in MUTATIONS][number])} is wrong"
    target = keys[said.split()[0]]
    for spec, value in outputs:
        if spec.kind not in MUTATIONS or spec.target != said.split()[0]:
            continue
        if target.kind is InputKind.PARAMETER:
            return "the mutation of a parameter is dropped"
        if value.name in specs and specs[value.name].kind is target.kind and value.name != target.arg.name:
            return f"a write-back from {NAMES[target.kind]} to another is dropped"
        return f"{NAMES[target.kind]} is not given {described(value)}"
    return "an input that nobody writes changes"


def end_to_end(module, signature, choice=None, **config):
    """What ExecuTorch's runtime says: "different: ...", "the same", or why it cannot be asked."""
    if not is_functional(module):
        return "not asked, to_edge leaves no views and no in-place ops"
    if any(opaque.is_without_kernel(node) for node in module.graph.nodes):
        return "not asked, an op has no kernel"
    try:
        found = endtoend.compare_graph(module, signature, choice, **config)
        return f"different: {found}" if found else "the same"
    except BridgeError as e:
        return f"not run: {e}"


def page(findings):
    """Findings as a page in Markdown."""
    parts = []
    for number, f in enumerate(findings, 1):
        parts += [f"### {number}. {f.kind[0].upper()}{f.kind[1:]}", "", "```", f.text.rstrip(), "```", "",
                  f"Eager PyTorch{' (view_copy lowered)' if f.lowered else ''}: {f.said}. ExecuTorch's runtime: {f.end_to_end}.", "",
                  f"Reproduce: `python -m writeback_executorch.confirm impl/python/findings/{f.file} --end-to-end`", ""]
    return "\n".join(parts)


def write(findings, folder):
    """A text file each, and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, f in enumerate(findings, 1):
        f.file = f.file or f"{number:02}.txt"
        (folder / f.file).write_text(f.text)
    (folder / "page.md").write_text(page(findings))
