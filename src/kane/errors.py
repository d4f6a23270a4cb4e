"""The errors of kane: each names the thing, the value and the way out."""

from __future__ import annotations

from typing import Any


class KaneError(Exception):
    """Base of all errors.

    `code` is a stable short identifier; `file`, `line` and `element` say where; `name` and `value` say what;
    `remedy` says what to do.
    """

    def __init__(  # noqa: PLR0913
        self,
        message: str,
        *,
        code: str = "",
        file: str | None = None,
        line: int | None = None,
        element: str | None = None,
        name: str | None = None,
        value: Any = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.code = code or type(self).__name__
        self.file, self.line, self.element = file, line, element
        self.name, self.value, self.remedy = name, value, remedy
        super().__init__(self.describe())

    def describe(self) -> str:
        """One paragraph: place, what is wrong, remedy."""
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} {self.remedy}" if self.remedy else text

    def as_dict(self) -> dict[str, Any]:
        """The JSON form that the command line prints."""
        keys = ("code", "file", "line", "element", "name", "value", "remedy")
        return {**{key: getattr(self, key) for key in keys}, "message": self.message}


class InputError(KaneError, ValueError):
    """A description that cannot be used."""


class FormatError(InputError):
    """A file that is not what it says it is."""


class NumberError(InputError):
    """Text or a value that is not a finite number."""


class TopologyError(InputError):
    """Bodies and joints that do not form a mechanism: loops, two roots, duplicates."""


class InertiaError(InputError):
    """Mass or inertia that no body can have."""


class MasslessJointError(InputError):
    """A joint that moves no inertia."""


class UnsupportedError(InputError):
    """Something valid that this command does not serve."""


class ShapeError(KaneError, ValueError):
    """An array of the wrong shape or type."""


class ArgumentsError(KaneError, TypeError):
    """A call with too few arrays, too many, or something else in the place of one."""


class UnknownNameError(KaneError, KeyError):
    """A name that is not there; the message lists those that are."""

    __str__ = Exception.__str__


class MissingExtraError(KaneError, ImportError):
    """An optional dependency is not installed."""


def install(extra: str) -> str:
    """How to install an extra of kane where kane is installed, be it from a checkout or not."""
    return f'Install it: pip install "kane[{extra}]".'


class ConvergenceError(KaneError):
    """An iteration that did not arrive."""
