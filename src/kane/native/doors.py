"""The doors to the machine code as LLVM IR, besides the call from Python: bound call, C pointer, table of pointers."""

from __future__ import annotations

from kane.graph.program import Program
from kane.native.assembly import SLOTS, Assembly, parameter, run_state, states
from kane.native.entry import call_function
from kane.native.text import Type


def entry_functions(program: Program, t: Type, constant_count: int) -> str:
    """IR of `@table`, `@call`, `@through`, `@bound`, `@pointer`."""
    slots = len(SLOTS)
    text = [
        f"@slots = internal global [{slots} x i64] zeroinitializer, align 64",
        "define ptr @table() {\n  ret ptr @slots\n}",
        _memo(program, t),
        call_function(program, t),
        _through(program),
        _bound(program, t),
        _pointer(program, t, constant_count),
    ]
    return "\n".join(text) + "\n"


def _through(program: Program) -> str:
    """One state by a table of pointers: inputs, outputs, constants."""
    code = Assembly()
    inputs = len(states(program))
    count = inputs + len(program.outputs)
    pointers = [code.field("%table", 8 * k) for k in range(count + 1)]
    run_state(code, pointers[:inputs], pointers[inputs:-1], pointers[-1])
    code.do("ret void")
    return code.function("define void @through(ptr %table)")


def _bound(program: Program, t: Type) -> str:
    """METH_NOARGS on a tuple (bytes of pointers, answer, what must stay alive)."""
    code = Assembly()
    inputs, p = len(states(program)), parameter(program)
    first = code(f"call ptr {code.slot('tuple_get')}(ptr %self, i64 0)")
    answer = code(f"call ptr {code.slot('tuple_get')}(ptr %self, i64 1)")
    table = code(f"call ptr {code.slot('bytes')}(ptr {first})")
    count = inputs + len(program.outputs)
    pointers = [code.field(table, 8 * k) for k in range(count)]
    constants = "null"
    if p is not None:
        given = code.field(table, 8 * count)
        code.do(f"br i1 {code(f'icmp eq ptr {given}, null')}, label %default, label %mine")
        code.label("mine")
        memo = code(f"call ptr @memo(ptr {given})")
        code.do("br label %joined")
        code.label("default")
        default = code.slot("defaults")
        code.do("br label %joined")
        code.label("joined")
        constants = code(f"phi ptr [{memo}, %mine], [{default}, %default]")
    run_state(code, pointers[:inputs], pointers[inputs:], constants)
    code.do(f"call void {code.slot('incref')}(ptr {answer})")
    code.do(f"ret ptr {answer}")
    return code.function("define ptr @bound(ptr %self, ptr %nothing)")


def _pointer(program: Program, t: Type, constant_count: int) -> str:
    """void f(const double *in0, ..., double *out0, ...): parameters null for the default ones."""
    code = Assembly()
    inputs, p = states(program), parameter(program)
    names = [f"%in{i}" for i in range(len(program.inputs))]
    outputs = [f"%out{i}" for i in range(len(program.outputs))]
    constants = "null"
    if p is not None:
        room = code.room(f"[{max(constant_count, 1)} x {t.scalar}]", 64)
        code.do(f"br i1 {code(f'icmp eq ptr %in{p}, null')}, label %default, label %mine")
        code.label("mine")
        code.do(f"call void @constants(ptr {room}, ptr %in{p})")
        code.do("br label %joined")
        code.label("default")
        default = code.slot("defaults")
        code.do("br label %joined")
        code.label("joined")
        constants = code(f"phi ptr [{room}, %mine], [{default}, %default]")
    run_state(code, [names[i] for i in inputs], outputs, constants)
    code.do("ret void")
    arguments = ", ".join(f"ptr {name}" for name in names + outputs)
    return code.function(f"define void @pointer({arguments})")


def _memo(program: Program, t: Type) -> str:
    """IR of `@memo(p)`: the constants of these parameters, computed again only when p has changed."""
    p = parameter(program)
    if p is None:
        return ""
    word, size = f"i{8 * t.scalar_bytes}", program.inputs[p].size
    code = Assembly()
    constants, mine = code.slot("memo_constants"), code.slot("memo_parameters")
    valid = code.slot("memo_valid", "i64")
    code.do(f"br i1 {code(f'icmp eq i64 {valid}, 1')}, label %compare, label %make")
    code.label("compare")
    code.do("%k = phi i64 [0, %start], [%k1, %same]")
    code.do(f"%done = icmp eq i64 %k, {size}")
    code.do("br i1 %done, label %end, label %look")
    code.label("look")
    code.do(f"%a = getelementptr {word}, ptr %p, i64 %k")
    code.do(f"%b = getelementptr {word}, ptr {mine}, i64 %k")
    code.do(f"%x = load {word}, ptr %a")
    code.do(f"%y = load {word}, ptr %b")
    code.do("%k1 = add i64 %k, 1")
    code.do(f"br i1 {code(f'icmp eq {word} %x, %y')}, label %same, label %make")
    code.label("same")
    code.do("br label %compare")
    code.label("make")
    code.do("br label %copy")
    code.label("copy")
    code.do("%j = phi i64 [0, %make], [%j1, %move]")
    code.do(f"%copied = icmp eq i64 %j, {size}")
    code.do("br i1 %copied, label %compute, label %move")
    code.label("move")
    code.do(f"%from = getelementptr {word}, ptr %p, i64 %j")
    code.do(f"%to = getelementptr {word}, ptr {mine}, i64 %j")
    code.do(f"%v = load {word}, ptr %from")
    code.do(f"store {word} %v, ptr %to")
    code.do("%j1 = add i64 %j, 1")
    code.do("br label %copy")
    code.label("compute")
    code.do(f"call void @constants(ptr {constants}, ptr {mine})")
    code.do(f"store i64 1, ptr {code.at('@slots', 8 * SLOTS.index('memo_valid'))}")
    code.do("br label %end")
    code.label("end")
    code.do(f"ret ptr {constants}")
    return code.function("define internal ptr @memo(ptr %p)")
