"""The command line: what `kane --help` lists, from derive to serve.

Exit status 0 only when the job was done; 2 for a refused input, with one message; 1 when a check failed.
"""

from __future__ import annotations

import os
import sys
import traceback
from io import TextIOWrapper
from pathlib import Path

from cyclopts import CycloptsError, UnusedCliTokensError

from kane.cli import analysis, identification, models, uses
from kane.cli.common import app, err_console, print_json
from kane.cli.wording import in_words_of
from kane.errors import InputError, KaneError

__all__ = ["analysis", "identification", "main", "models", "uses"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line; exits with its status."""
    arguments = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):  # names of any alphabet on a terminal of any other
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = app(arguments, result_action="return_value", exit_on_error=False, print_error=False)
    except KaneError as error:
        _refuse(error, arguments)
    except UnusedCliTokensError as error:
        _refuse(_unused(error.unused_tokens or []), arguments)
    except CycloptsError as error:
        text = " ".join(str(error).split())
        _refuse(InputError(text, code="UsageError", remedy="See kane --help."), arguments)
    except BrokenPipeError:  # the reader of a pipe went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        err_console.print("kane: interrupted")
        sys.exit(130)
    except OSError as error:
        file = None if error.filename is None else str(error.filename)
        text = f"{error.strerror or error}."
        _refuse(InputError(text, code="FileError", file=file, name=file, remedy="Check the path."), arguments)
    except Exception as error:
        _refuse(_defect(error), arguments)
    sys.exit(status if isinstance(status, int) else 0)


def _unused(tokens: list[str]) -> KaneError:
    """Words that no option takes: an option that takes several wants them in one word, or comes again."""
    words = " ".join(tokens)
    remedy = "Options that take several take a,b,c in one word, or come again for each. See kane --help."
    return InputError(f"{words!r} belongs to no option.", code="UsageError", name=tokens[0], value=words, remedy=remedy)


def _refuse(error: KaneError, arguments: list[str]) -> None:
    """One message in the words of the command, one JSON object with --json, and status 2."""
    error = in_words_of(error, next((word for word in arguments if not word.startswith("-")), ""))
    if "--json" in arguments:
        print_json({"error": error.as_dict()})
    else:
        err_console.print(f"kane: {error.describe()}", highlight=False, markup=False, soft_wrap=True)
    sys.exit(2)


def _defect(error: Exception) -> KaneError:
    """What no check foresaw, in one line that says where."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    what = f"{type(error).__name__} at {place}: {' '.join(str(error).split())}"
    remedy = "This is a defect of kane: please report it with the input."
    return KaneError(f"The input could not be handled ({what}).", code="InternalError", value=place, remedy=remedy)


if __name__ == "__main__":
    main()
