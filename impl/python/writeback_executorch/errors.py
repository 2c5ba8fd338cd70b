"""The one error of this package: a sentence for the user, never a traceback.

Whatever a user can cause (an old torch, an op that is not installed, a program that cannot be rebuilt) is raised as BridgeError;
`main_of` turns it into a line on standard error and exit status 2. Any other exception is a fault of this package and shows as such.
"""

import functools
import importlib.util
import sys

NO_TORCH = "torch is not installed: pip install torch==2.13.0, then executorch==1.4.1"


class BridgeError(Exception):
    """Says in one sentence what is missing or what was expected."""


def said(sentence):
    """The exit status of a command that ends with this sentence."""
    print(f"writeback-executorch: {sentence}", file=sys.stderr)
    return 2


def torch_is_missing():
    return importlib.util.find_spec("torch") is None


def main_of(function):
    """Decorates a command's main(): a BridgeError becomes a sentence and exit status 2."""

    @functools.wraps(function)
    def main(*arguments):
        try:
            return function(*arguments)
        except BridgeError as e:
            return said(e)
        except BrokenPipeError:
            return 0
        except KeyboardInterrupt:
            return 130

    return main


def first_line(error):
    """The first line of an exception's text, cut to what fits a sentence."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
