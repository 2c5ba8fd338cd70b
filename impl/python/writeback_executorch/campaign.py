"""python -m writeback_executorch.campaign FOLDER: are the findings of a fuzz campaign true?

`writeback fuzz --impl 'cmd:python -m writeback_executorch.serve' --out FOLDER` leaves a minimised program for each distinct failure. Each
goes through the pass once more, with the arguments that the campaign's `serve` had, and eager PyTorch says whether what comes out has the
program's meaning (confirm.py). One program of each kind, the smallest, is kept; --out writes them and a page, those first that
torch.export and to_edge can give the pass. Exit status 1 where a failure is not confirmed: then the fuzzer, or this judge, is wrong.
"""

import argparse
import collections
import json
import pathlib
import sys

from . import confirm, endtoend, findings, opaque, passes, program as programs, serve
from .errors import BridgeError, first_line, main_of
from .placement import MUTATIONS


def failures_in(folder):
    """(name, path of the program) of each failure, in the order in which they were found."""
    found = sorted(pathlib.Path(folder).glob("failures/*/program.txt"))
    if not found:
        raise BridgeError(f"{folder} has no failures/*/program.txt: name the folder that `writeback fuzz --out` wrote")
    return [(path.parent.name, path) for path in found]


FUNCTIONAL, IN_PLACE, SHARED, WRITTEN_TWICE, OPAQUE, REINPLACED = (
    "functional", "with views or in-place ops", "with buffers that share a storage", "with a target that is written back twice",
    "with an op that does more than its schema says", "with a result in the storage of an argument")


def class_of(module, signature, request):
    """What the pass can meet in ExecuTorch, or why it cannot: torch.export gives a target one write-back and believes schemas, to_edge
    leaves no views, and to_executorch gives every buffer a storage of its own; only its reinplace pass lets results share one."""
    targets = [s.target for s in signature.output_specs if s.kind in MUTATIONS]
    if len(set(targets)) < len(targets):
        return WRITTEN_TWICE
    if request["alias"]:
        return SHARED
    if request["share_alloc"]:
        return REINPLACED
    if any(opaque.is_without_kernel(n) for n in module.graph.nodes):
        return OPAQUE
    return FUNCTIONAL if findings.is_functional(module) else IN_PLACE


def judged(path, request, server):
    """(finding or None, why not, class of the program)."""
    programs.define_ops(request["schemas"])
    module, signature = programs.read_json(request["program"])
    where = class_of(module, signature, request)
    try:
        found = confirm.confirmed(request, server.reply(request))
    except BridgeError as e:
        return None, f"cannot be asked: {first_line(e)}", where
    if not found:
        return None, "not confirmed", where
    said, lowered = found
    return findings.Finding(findings.kind_of(module, signature, said), path.read_text(), said, lowered), None, where


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.campaign", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the findings")
    serve.add_arguments(parser)
    given = parser.parse_args(arguments)
    server, kinds, counts = serve.server_of(given), {}, collections.Counter()
    choice, config = passes.pass_from(given.pass_name, given.pass_file), endtoend.reinplacing(given.reinplace)
    for name, path in failures_in(given.folder):
        request = confirm.asked(path)
        finding, why, where = judged(path, request, server)
        counts[why or "confirmed"] += 1
        print(json.dumps({"failure": name, "program": where, "kind": finding.kind if finding else why, "said": finding and finding.said}),
              flush=True)
        key = finding and (where != FUNCTIONAL, where, finding.kind)
        if finding and (key not in kinds or len(finding.text) < len(kinds[key][0].text)):
            kinds[key] = finding, request["program"]
    kept = [kinds[key] for key in sorted(kinds)]
    for finding, asked in kept:
        finding.end_to_end = findings.end_to_end(*programs.read_json(asked), choice, **config)
    if given.out:
        findings.write([finding for finding, _ in kept], given.out)
    print(", ".join(f"{n} {what}" for what, n in counts.items()) + f"; {len(kinds)} kinds")
    return 1 if counts["not confirmed"] else 0


if __name__ == "__main__":
    sys.exit(main())
