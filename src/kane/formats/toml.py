"""The TOML form of any mechanism: written and read back identically, exact numbers included.

Numbers that end are decimals, others and formulas are texts.  A field that has its default value is left out.  Where a
value may be of several types, `is` names the type; moves are {translate}, {turn, angle} and {quaternion}.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
import types
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from sys import float_info
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kane.errors import FormatError, NumberError
from kane.formats.source import Source, decimal_of, text_of
from kane.graph.functions import FUNCTIONS
from kane.mechanism import basis, constraints, loads, model
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.model import ImportReport, MatrixTurn, Mechanism, Move, QuaternionTurn, Translate, Turn
from kane.mechanism.topology import check_tree

FORMAT = "kane mechanism 1"
_TABLES = {
    "links": "link", "joints": "joint", "frames": "frame", "parameters": "parameter", "loads": "load",
    "constraints": "constraint", "speeds": "speed",
}  # fmt: skip
_CLASSES = {
    cls.__name__: cls
    for module in (model, loads, constraints, basis)
    for cls in vars(module).values()
    if isinstance(cls, type) and dataclasses.is_dataclass(cls)
}
_OPERANDS = {
    **dict.fromkeys(("num", "name", "pi"), 0), **dict.fromkeys(("neg", "sqrt", "sin", "cos"), 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "pow"), 2), **{key: known.arity for key, known in FUNCTIONS.items()},
}  # fmt: skip
_LARGEST = Fraction(float_info.max)
_MOVES = (Translate, Turn, QuaternionTurn, MatrixTurn)


def write_toml(mechanism: Described) -> str:
    """The mechanism as TOML text; read_toml gives an equal mechanism."""
    mechanism = mechanism_of(mechanism)
    lines = [f"format = {_string(FORMAT)}"]
    hints = _hints(Mechanism)
    for entry in dataclasses.fields(Mechanism):
        value = getattr(mechanism, entry.name)
        if entry.name not in _TABLES and entry.name != "report" and not _is_default(entry, value):
            lines.append(f"{entry.name} = {_toml(_encode(value, hints[entry.name]))}")
    for key, table in _TABLES.items():
        inner = get_args(hints[key])[0]
        for item in getattr(mechanism, key):
            lines += ["", f"[[{table}]]"]
            lines += [f"{name} = {_toml(value)}" for name, value in _encode(item, inner).items()]
    return "\n".join(lines) + "\n"


def read_toml(source: Source) -> Mechanism:
    """The mechanism of a text written by write_toml or by hand in its form.

    Raises FormatError, NumberError, TopologyError.
    """
    text, file = text_of(source)
    try:
        data = tomllib.loads(text, parse_float=decimal_of)
    except NumberError:
        raise
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise FormatError(f"The TOML does not parse: {error}.", file=file, remedy="Correct it there.") from None
    if data.pop("format", None) != FORMAT:
        raise FormatError(
            f"The file does not say format = {FORMAT!r}.", file=file, name="format", remedy="Add that line."
        )
    for key, table in _TABLES.items():
        if table in data:
            data[key] = data.pop(table)
    try:
        mechanism: Mechanism = _decode(data, Mechanism, "mechanism")
    except (FormatError, NumberError) as error:
        raise type(error)(error.message, file=file, name=error.name, value=error.value, remedy=error.remedy) from None
    check_tree(mechanism.links, mechanism.joints, file)
    return dataclasses.replace(mechanism, report=ImportReport(file or "", "toml"))


def _is_default(entry: dataclasses.Field[Any], value: Any) -> bool:
    if entry.default is not dataclasses.MISSING:
        return bool(type(entry.default) is type(value) and entry.default == value)
    if entry.default_factory is not dataclasses.MISSING:
        return bool(entry.default_factory() == value)
    return False


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _encode(value: Any, hint: Any) -> Any:
    """Plain data: numbers as texts of TOML, strings, lists, dictionaries."""
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(value, Formula):
        return _formula(value)
    if isinstance(value, _MOVES):
        return _move(value)
    if isinstance(value, tuple):
        return [_encode(item, _item(hint, k)) for k, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        result: dict[str, Any] = {"is": type(value).__name__} if not _single(hint) else {}
        hints = _hints(type(value))
        for entry in dataclasses.fields(value):
            item = getattr(value, entry.name)
            if not _is_default(entry, item):
                result[entry.name] = _encode(item, hints[entry.name])
        return result
    return value


def _number(value: Fraction) -> Any:
    text = f.scalar_text(value)
    return text if "/" in text else Decimal(text)


def _formula(value: Formula) -> Any:
    try:
        if f.parse(str(value)) == value:
            return str(value)
    except NumberError:
        pass
    own = str(value.value) if isinstance(value.value, Fraction) else value.value
    tree: dict[str, Any] = {"op": value.op}
    if own is not None:
        tree["value"] = own
    if value.args:
        tree["args"] = [_formula(arg) for arg in value.args]
    return tree


def _move(move: Move) -> dict[str, Any]:
    if isinstance(move, Translate):
        return {"translate": [_encode(x, Fraction) for x in move.by]}
    if isinstance(move, Turn):
        return {"turn": "xyz"[move.axis], "angle": _encode(move.angle, Fraction)}
    if isinstance(move, MatrixTurn):
        return {"cosines": [[_encode(x, Fraction) for x in row] for row in move.rows]}
    result: dict[str, Any] = {"quaternion": [_encode(q, Fraction) for q in move.quaternion]}
    return result if move.speeds is None else {**result, "speeds": list(move.speeds)}


def _single(hint: Any) -> bool:
    """True when the hint leaves one dataclass."""
    return len([arg for arg in _choices(hint) if dataclasses.is_dataclass(arg)]) == 1


def _choices(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _item(hint: Any, k: int) -> Any:
    for choice in _choices(hint):
        if get_origin(choice) is tuple:
            inner = get_args(choice)
            return inner[0] if inner[-1] is Ellipsis else inner[min(k, len(inner) - 1)]
    return object


def _decode(value: Any, hint: Any, where: str) -> Any:
    choices = _choices(hint)
    if isinstance(value, dict):
        return _decode_table(value, choices, where)
    if isinstance(value, list):
        return _decode_list(value, hint, where)
    named = any(get_origin(c) is Literal for c in choices)
    exact = Fraction in choices or Formula in choices
    if isinstance(value, bool):
        if bool in choices:
            return value
    elif isinstance(value, str):
        if str in choices or named:
            return value
        if exact:
            return f.parse(value)
    elif isinstance(value, (int, Decimal)):
        number = _exact(value, where)
        if exact:
            return number
        if (int in choices or named) and number.denominator == 1:
            return int(number)
        if float in choices:
            return float(number)
    raise _wrong(value, where)


def _exact(value: int | Decimal, where: str) -> Fraction:
    """The number; NumberError unless it is finite and in the range of a double."""
    if isinstance(value, Decimal):
        good = value.is_finite() and (not value or -400 < value.adjusted() < 309)
    else:
        good = abs(value) < 10**309
    number = Fraction(value) if good else Fraction(0)
    if not good or abs(number) > _LARGEST:
        text = str(value) if isinstance(value, Decimal) else f"an integer of {value.bit_length()} bits"
        raise NumberError(f"{where}: {text} is not a finite number.", name=where, value=text, remedy="Give one.")
    return number


def _decode_list(value: list[Any], hint: Any, where: str) -> tuple[Any, ...]:
    tuples = [c for c in _choices(hint) if get_origin(c) is tuple]
    if not tuples:
        raise _wrong(value, where)
    sizes = {len(get_args(c)) for c in tuples if get_args(c)[-1] is not Ellipsis}
    if sizes and len(value) not in sizes:
        raise FormatError(
            f"{where} has {len(value)} entries.", name=where, value=str(value), remedy=f"Give {min(sizes)}."
        )
    return tuple(_decode(item, _item(hint, k), f"{where}[{k}]") for k, item in enumerate(value))


def _decode_table(value: Mapping[str, Any], choices: tuple[Any, ...], where: str) -> Any:
    if "op" in value:
        return _decode_formula(value, where)
    if any(move in choices for move in _MOVES):
        return _decode_move(value, where)
    cls = (
        _CLASSES.get(value["is"]) if "is" in value else next((c for c in choices if dataclasses.is_dataclass(c)), None)
    )
    if cls is None or not isinstance(cls, type):
        raise _wrong(value.get("is", dict(value)), where)
    hints = _hints(cls)
    fields = {entry.name: entry for entry in dataclasses.fields(cls)}
    given = {key: item for key, item in value.items() if key != "is"}
    for key in given:
        if key not in fields:
            raise FormatError(
                f"{where}: {key!r} is not known.", name=where, value=key, remedy=f"Known: {', '.join(fields)}."
            )
    for key, entry in fields.items():
        if key not in given and entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING:
            if key not in ("links", "joints"):
                raise FormatError(f"{where}: {key!r} is missing.", name=where, value=key, remedy="Add it.")
            given[key] = []
    label = f"{cls.__name__.lower()} {given['name']!r}" if isinstance(given.get("name"), str) else where
    return cls(**{key: _decode(item, hints[key], f"{label}.{key}") for key, item in given.items()})


def _decode_formula(value: Mapping[str, Any], where: str) -> Formula:
    """A formula that has no text of its own: {op, args} with numbers and names {op, value}."""
    op, own, given = value["op"], value.get("value"), value.get("args", [])
    if not isinstance(op, str) or op not in _OPERANDS:
        raise _wrong(op, where)
    count = _OPERANDS[op]
    if set(value) - {"op", "args", "value"} or not isinstance(given, list) or len(given) != count:
        raise _wrong(dict(value), where)
    if op == "num":
        number = f.parse(own) if isinstance(own, str) else own
        if isinstance(number, (int, Decimal)) and not isinstance(number, bool):
            number = _exact(number, where)
        if not isinstance(number, Fraction):
            raise _wrong(own, where)
        return Formula("num", (), number)
    if (op == "name") != isinstance(own, str):
        raise _wrong(dict(value), where)
    args = tuple(f.formula(_decode(arg, Union[Fraction, Formula], where)) for arg in given)  # noqa: UP007
    return Formula(op, args, own)


def _decode_move(value: Mapping[str, Any], where: str) -> Any:
    number = Union[Fraction, Formula]  # noqa: UP007
    match dict(value):
        case {"translate": [x, y, z], **rest} if not rest:
            return Translate((_decode(x, number, where), _decode(y, number, where), _decode(z, number, where)))
        case {"turn": ("x" | "y" | "z") as axis, "angle": angle, **rest} if not rest:
            return Turn("xyz".index(axis), _decode(angle, number, where))  # type: ignore[arg-type]
        case {"cosines": [[_, _, _], [_, _, _], [_, _, _]] as rows, **rest} if not rest:
            return MatrixTurn(tuple(tuple(_decode(x, number, where) for x in row) for row in rows))  # type: ignore[arg-type]
        case {"quaternion": [w, x, y, z], **rest} if set(rest) <= {"speeds"}:
            speeds = tuple(rest["speeds"]) if "speeds" in rest else None
            q = (w, x, y, z)
            if not all(isinstance(v, str) for v in q) or speeds is None:
                q = tuple(_decode(v, number, where) for v in q)
            return QuaternionTurn(q, speeds)
    raise _wrong(dict(value), where)


def _wrong(value: Any, where: str) -> FormatError:
    return FormatError(
        f"{where}: {value!r} cannot stand here.", name=where, value=str(value), remedy="Compare with a written file."
    )


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f"{{{', '.join(f'{_key(k)} = {_toml(v)}' for k, v in value.items())}}}"


def _key(text: str) -> str:
    return text if text.isidentifier() and text.isascii() else _string(text)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
