"""The command line: kane derive, check, counts, explicit, code, bench, simulate, report, serve.

Exit status 0 only when the job was done; 2 for a refused input, with one message; 1 when a check failed.
"""

from __future__ import annotations

import json
import os
import sys

from kane.cli import models, uses
from kane.cli.common import app, err_console
from kane.errors import KaneError

__all__ = ["main", "models", "uses"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line; exits with its status."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        status = app(arguments, result_action="return_value")
    except KaneError as error:
        if "--json" in arguments:
            print(json.dumps({"error": error.as_dict()}, ensure_ascii=False, default=str))
        else:
            err_console.print(f"kane: {error}", highlight=False, markup=False, soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        err_console.print("kane: interrupted")
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
