"""The one error of this package: a sentence for the user, never a traceback.

Whatever a user can cause (an old torch, an op that is not installed, a program that cannot be rebuilt) is raised as BridgeError;
`main_of` turns it into a line on standard error and exit status 2. Any other exception is a fault of this package and shows as such.
"""

import functools
import sys


class BridgeError(Exception):
    """Says in one sentence what is missing or what was expected."""


def main_of(function):
    """Decorates a command's main(): a BridgeError becomes a sentence and exit status 2."""

    @functools.wraps(function)
    def main(*arguments):
        try:
            return function(*arguments)
        except BridgeError as e:
            print(f"writeback-executorch: {e}", file=sys.stderr)
            return 2
        except BrokenPipeError:
            return 0
        except KeyboardInterrupt:
            return 130

    return main


def first_line(error):
    """The first line of an exception's text, cut to what fits a sentence."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
