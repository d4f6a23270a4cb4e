"""What machine code needs of CPython and NumPy: addresses for its table, builtin functions made from a pointer."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kane.native.assembly import SLOTS

NO_ARGUMENTS = 0x04  # METH_NOARGS
OUT, THREADS = sys.intern("out"), sys.intern("threads")


class MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("meth", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


def has_fast_calls() -> bool:
    """True on a 64-bit CPython with the usual object header (no free threading, no debug references)."""
    unlocked = getattr(sys, "_is_gil_enabled", lambda: True)() is False
    return (
        sys.implementation.name == "cpython"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and not unlocked
        and object.__basicsize__ == 16
        and not hasattr(sys, "getobjects")
    )


def method(name: str, address: int, flags: int, doc: str = "") -> MethodDef:
    return MethodDef(name.encode(), address, flags, doc.encode())


def builtin(definition: MethodDef, owner: object) -> Callable[..., Any]:
    """A builtin function with `owner` as its self; the owner has to keep the definition alive."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(MethodDef), ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = make(ctypes.byref(definition), owner, None)
    return made


class _Member(ctypes.Structure):
    """PyMemberDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )  # fmt: skip


class _Slot(ctypes.Structure):
    """PyType_Slot."""

    _fields_ = (("slot", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    """PyType_Spec."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )  # fmt: skip


@cache
def directly_called(base: type) -> type:
    """A subclass whose instances are called through a pointer of their own (PEP 590), set by `set_entry`."""
    offset = base.__basicsize__
    integer, read_only = 19, 1  # Py_T_PYSSIZET, Py_READONLY
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", integer, offset, read_only, None))
    tp_call, tp_members = 50, 72
    slots = (_Slot * 3)(
        _Slot(tp_call, _python("PyVectorcall_Call")), _Slot(tp_members, ctypes.cast(members, ctypes.c_void_p))
    )
    default, vectorcall = 1 << 18, 1 << 11  # Py_TPFLAGS_DEFAULT, Py_TPFLAGS_HAVE_VECTORCALL
    name = f"{base.__module__}.{base.__name__}".encode()
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec), ctypes.py_object]
    made: type = make(ctypes.byref(_Spec(name, offset + 8, 0, default | vectorcall, slots)), (base,))
    _ALIVE.append((members, slots, name))
    return made


_ALIVE: list[Any] = []  # what types made above point to


def set_entry(instance: object, address: int) -> None:
    """Let a call of this instance of a `directly_called` class go to a vectorcall function."""
    place = id(instance) + type(instance).__basicsize__ - 8
    ctypes.c_int64.from_address(place).value = address


def fill(table: int, dtype: np.dtype[Any], more: dict[str, int]) -> None:
    """Write the addresses that SLOTS names into a table of loaded code."""
    known = (_addresses(dtype) if has_fast_calls() else {}) | more
    slots = (ctypes.c_int64 * len(SLOTS)).from_address(table)
    for name, value in known.items():
        slots[SLOTS.index(name)] = value


def _addresses(dtype: np.dtype[Any]) -> dict[str, int]:
    """What the table holds of the interpreter and of NumPy."""
    numpy_api = _numpy_table()
    return {
        "array_type": id(np.ndarray),
        "descr": id(dtype),
        "array_new": numpy_api[93],
        "array_return": numpy_api[76],
        "vectorcall": _python("PyObject_Vectorcall"),
        "tuple_new": _python("PyTuple_New"),
        "tuple_get": _python("PyTuple_GetItem"),
        "tuple_set": _python("PyTuple_SetItem"),
        "incref": _python("Py_IncRef"),
        "bytes": _python("PyBytes_AsString"),
        "save_thread": _python("PyEval_SaveThread"),
        "restore_thread": _python("PyEval_RestoreThread"),
        "out_name": id(OUT),
        "tuple_type": id(tuple),
        "threads_name": id(THREADS),
        "int_type": id(int),
        "int_value": _python("PyLong_AsLongLongAndOverflow"),
    }


def _python(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _numpy_table() -> Any:
    """The function table that NumPy exports to extension modules."""
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        umath: Any = importlib.import_module("numpy._core._multiarray_umath")
    else:
        umath = importlib.import_module("numpy.core._multiarray_umath")
    unwrap = ctypes.pythonapi.PyCapsule_GetPointer
    unwrap.restype, unwrap.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return (ctypes.c_int64 * 100).from_address(unwrap(umath._ARRAY_API, None))
