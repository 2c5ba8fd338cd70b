"""python -m writeback_executorch.campaign FOLDER: are the findings of a fuzz campaign true?

`writeback fuzz --impl 'cmd:python -m writeback_executorch.serve' --out FOLDER` leaves a minimised program for each distinct failure. Each
goes through the pass once more, with the arguments that the campaign's `serve` had, and eager PyTorch says whether what comes out has the
program's meaning (confirm.py). One program of each kind, the smallest, is kept; --out writes them and a page. Exit status 1 where a
failure is not confirmed: then the fuzzer, or this judge, is wrong.
"""

import argparse
import collections
import json
import pathlib
import sys

from . import confirm, endtoend, findings, passes, program as programs, serve
from .errors import BridgeError, first_line, main_of


def failures_in(folder):
    """(name, path of the program) of each failure, in the order in which they were found."""
    found = sorted(pathlib.Path(folder).glob("failures/*/program.txt"))
    if not found:
        raise BridgeError(f"{folder} has no failures/*/program.txt: name the folder that `writeback fuzz --out` wrote")
    return [(path.parent.name, path) for path in found]


def judged(path, request, server):
    """(finding or None, why not, whether the program is functional)."""
    module, signature = programs.read_json(request["program"])
    functional = findings.is_functional(module)
    try:
        found = confirm.confirmed(request, server.reply(request))
    except BridgeError as e:
        return None, f"cannot be asked: {first_line(e)}", functional
    if not found:
        return None, "not confirmed", functional
    said, lowered = found
    return findings.Finding(findings.kind_of(module, signature, said), path.read_text(), said, lowered), None, functional


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
        finding, why, functional = judged(path, request, server)
        counts[why or "confirmed"] += 1
        what = "functional" if functional else "with views or writes"
        print(json.dumps({"failure": name, "program": what, "kind": finding.kind if finding else why, "said": finding and finding.said}),
              flush=True)
        key = finding and (finding.kind, functional)
        if finding and (key not in kinds or len(finding.text) < len(kinds[key][0].text)):
            kinds[key] = finding, request["program"]
    for finding, asked in kinds.values():
        finding.end_to_end = findings.end_to_end(*programs.read_json(asked), choice, **config)
    if given.out:
        findings.write([finding for finding, _ in kinds.values()], given.out)
    print(", ".join(f"{n} {what}" for what, n in counts.items()) + f"; {len(kinds)} kinds")
    return 1 if counts["not confirmed"] else 0


if __name__ == "__main__":
    sys.exit(main())
