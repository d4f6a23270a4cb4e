"""Damaged robot files for every reader: python tests/formats/fuzz.py --seconds 600 [--seed 1] [--atheris]

Three laws are tried on each damaged text: a reader gives a mechanism or refuses with an InputError that has a remedy,
nothing else; it takes less than two seconds of processor time; and a text in which a number that counts was replaced
by one that is damaged is refused, or the report says what was repaired.  --atheris lets the coverage-guided fuzzer of
that name (PyPI: atheris) find inputs after that; what is found is printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import random
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
LIMIT = 2.0  # seconds a file

DH = """# standard DH
# gravity along -z with g = 9.81
joint,alpha_deg,a_mm,d,theta,mass,com_x,com_y,com_z,Ixx,Iyy,Izz,rotor_inertia,gear_ratio,upper
1,90,300,0.25,q1+pi/2,m1=1.5,0.1,0,0.02,0.01,0.02,0.03,3e-5,120,1.5
2,-90,0,q2,0,2,0,0.1,0,0.01,0.02,0.03,0,1,0.3
"""
DH_TOML = """name = "arm"
convention = "modified"
gravity = [0, 0, -1.62]
[parameters]
L = 0.1
[mount]
xyz = [0, 0, 1]
rpy = ["pi", 0, 0]
[[joint]]
name = "waist"
alpha_prev_deg = 30
a_prev = 0
d = 0.25
theta = "q1"
mass = 1.5
com = [0.1, 0, 0]
inertia = [0.01, 0.02, 0.02]
rotor_inertia = 3e-5
gear_ratio = -100
lower = "-pi/2"
"""
DH_JSON = (
    '{"convention": "standard", "gravity": [0, 0, -9.81], "joints": ['
    '{"alpha": 0.5, "a": 0.1, "d": 0.2, "theta": "q1", "mass": 1.5, "com": [0.1, 0, 0.2], "inertia": [1, 2, 3]}]}\n'
)
MOTORS = "joint,rotor_inertia_kg_m2,gear_ratio\nj1,3.0e-5,120\nj2,2.0e-5,-80\n"
BODY = (
    '<inertial pos="0.02 0.01 0.1" mass="1.2" diaginertia="0.01 0.012 0.004" euler="5 0 25"/>'
    '<geom type="box" size="0.1 0.2 0.3"/>'
)
MJCF = f"""<mujoco model="m"><compiler eulerseq="xyz"/><option gravity="0 0 -9.81"/>
<default><default class="k"><joint axis="1 0 0" pos="0 0 0.3" ref="20" damping="2"/></default></default>
<worldbody><body name="a" pos="0 0 1" euler="30 20 0">{BODY}<joint name="j" class="k"/>
<body name="b" quat="0.7 0.1 -0.4 0.2">{BODY}<joint name="s" type="slide" axis="0 1 1" armature="0.1" range="-1 2"/>
</body></body></worldbody>
<equality><joint joint1="s" joint2="j" polycoef="0.1 -0.5 0 0 0"/></equality></mujoco>
"""
INERTIA = "<mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia>"
SDF = f"""<sdf version="1.9"><model name="m">
<link name="a"><pose>0 0 1 0.1 0.2 0.3</pose><inertial><pose>0.1 0 0 0 0 0.3</pose>{INERTIA}</inertial></link>
<link name="b"><pose relative_to="f">1 0.5 0.2 -0.4 0.3 0</pose><inertial>{INERTIA}</inertial></link>
<frame name="f" attached_to="a"><pose>1 0 0 0 0 0</pose></frame>
<joint name="j" type="revolute"><pose>0.1 0.2 0.3 0.5 0 0.7</pose><parent>a</parent><child>b</child>
<axis><xyz expressed_in="__model__">0 1 0</xyz><dynamics><damping>0.3</damping></dynamics></axis></joint>
</model></sdf>
"""
XACRO = """<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="0.5"/>
<xacro:macro name="arm" params="n r:=0.1"><link name="l${n}"><inertial><mass value="${m*n}"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></xacro:macro>
<link name="base"/><xacro:arm n="3"/><xacro:if value="${m &gt; 0}"><joint name="j" type="revolute"><parent link="base"/>
<child link="l3"/><origin xyz="${m} 0 1" rpy="0 ${pi/2} 0"/><axis xyz="0 0 1"/></joint></xacro:if></robot>
"""


def corpus() -> dict[str, list[str]]:
    """Sound texts by the suffix of their format; our own."""
    from urdf_texts import body, joint, robot, two_joints

    from kane.formats import write_toml
    from kane.robots import load

    follower = '<mimic joint="j2" multiplier="2" offset="0.1"/><dynamics damping="0.3" friction="0.2"/>'
    motor = '<transmission name="t"><joint name="j1"/><actuator name="m"><rotorInertia>3e-5</rotorInertia></actuator></transmission>'  # noqa: E501
    urdf = [
        two_joints(more=motor, j1=joint("j1", "base", "a", extra=follower)),
        robot('<link name="base"/>', body("a"), joint("j", "base", "a", "planar", origin='xyz="1 2 3" rpy="0.1 0 0"')),
        (HERE.parent / "data/cases/odd_but_valid.urdf").read_text(),
    ]
    return {
        ".urdf": urdf, ".mjcf": [MJCF], ".sdf": [SDF], ".csv": [DH], ".toml": [write_toml(load("two_link")), DH_TOML],
        ".json": [DH_JSON], ".xacro": [XACRO], ".motors": [MOTORS],
    }  # fmt: skip


def robots_of_wheels() -> dict[str, list[str]]:
    """Small files of the wheels that are installed."""
    from robot_files import REFUSED, urdf_files, wheel_files

    urdf = [path for name, path in urdf_files().items() if name not in REFUSED and "random_urdfs" not in name]
    mjcf, sdf = (list(wheel_files(*what).values()) for what in ((".xml", b"<mujoco"), (".sdf", b"<sdf")))
    found = {".urdf": urdf, ".mjcf": mjcf, ".sdf": sdf}
    return {
        kind: [path.read_text(errors="replace") for path in paths if path.stat().st_size < 20_000]
        for kind, paths in found.items()
    }


# ---------------------------------------------------------------- damage

NO_NUMBERS = (
    "nan", "inf", "-Infinity", "0x10", "1,5", "1e", "1.2.3", "--1", "1e400", "-1e-500", "1_000", "\uff11", "٣", "1 2",
    "1;2", "½", "1e5.5", "1d5", "1f", "+-1", "0b1", "1j", "1.0.", ".", "e5e", "1'000", "$1", "1%", "−1", "1\u00a02",
    "1e+", "one", "1\u200b", "NaN(1)", "0o17", "9" * 400, "1" + "0" * 320,
)  # fmt: skip
INTERESTING = (
    *NO_NUMBERS, "", "<", ">", "&", "&x;", "&#0;", "&#xFFFF;", '"', "'", "\u0000", "\ufeff", "]]>", "<!--", "-->",
    "<?xml?>", "<!DOCTYPE r [<!ENTITY a 'b'>]>", '<?xml version="1.0" encoding="utf-7"?>', "{", "}", "[", "]", "[[",
    "=", ",", "\n", "\r", "\t", "#", "((((((((", "q1*", "**", "9**9**9", "1/0", "0/0", "sqrt(-1)", "pi", "sin(q1)",
    "${", "$(find x)", "${10/0}", "../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "0", "-0", "1e308",
    "1e-308", "-1", "9" * 5000, "a" * 300, "é", "\ud800", "link", "joint", "world", "__model__", "floating", "fixed",
    "revolute",
)  # fmt: skip
_NUMBER = re.compile(r'(?<=[">\s,\[=])[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?=["<\s,\]\n])')
_IDLE = re.compile(  # numbers that are no numbers of the robot, or only drawn
    r'\?xml[^>]*\?>|<sdf version="[^"]*"|<geom [^>]*>|^#[^\n]*|xmlns\S*|\n\d+(?=,)|<color[^>]*>|<visual.*?</visual>|'
    r'<collision.*?</collision>|<xacro[^>]*>|<!--.*?-->|<vendor.*?>|range="[^"]*"|format = [^\n]*|sources? = [^\n]*|'
    r'(?<=class="k">)<joint', re.S | re.M,
)  # fmt: skip


def damaged_number(kind: str, text: str, r: random.Random) -> str | None:
    """The text with one number that counts replaced by something that is none; None when there is none to replace."""
    idle = [m.span() for m in _IDLE.finditer(text)]
    places = [m.span() for m in _NUMBER.finditer(text) if not any(a <= m.start() < b for a, b in idle)]
    if not places:
        return None
    a, b = r.choice(places)
    bad = r.choice(NO_NUMBERS)
    if kind == ".toml" and bad in ("0x10", "1_000", "0b1", "0o17"):  # numbers of TOML
        return None
    if bad in ("one", "e5e") and kind in (".csv", ".toml", ".json"):  # names of parameters
        return None
    return text[:a] + bad + text[b:]


def mutated(texts: list[str], r: random.Random) -> bytes:
    """One of the texts, damaged one to six times: spans, tokens, lines, bytes."""
    text = r.choice(texts)
    for _ in range(r.randint(1, 6)):
        at = r.randrange(len(text) + 1)
        end = min(len(text), at + r.randint(1, 60))
        match r.randint(0, 7):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + r.choice(INTERESTING) + text[at:]
            case 2:
                text = text[:end] + text[at:end] * r.choice((1, 1, 2, 40)) + text[end:]
            case 3:
                tokens = list(re.finditer(r"[\w.+-]+", text))
                if tokens:
                    a, b = r.choice(tokens).span()
                    text = text[:a] + r.choice(INTERESTING) + text[b:]
            case 4:
                words = re.findall(r"[\w.+-]+", text)
                if words:
                    text = text.replace(r.choice(words), r.choice(words), r.randint(1, 3))
            case 5:
                lines = text.splitlines(keepends=True)
                lines.insert(r.randrange(len(lines) + 1), r.choice(lines or [""]))
                if r.random() < 0.2:
                    r.shuffle(lines)
                text = "".join(lines)
            case 6:
                other = r.choice(texts)
                cut = r.randrange(len(other) + 1)
                text = text[:at] + other[cut : cut + r.randint(1, 200)] + text[end:]
            case _:
                tags = list(re.finditer(r"<[^<>]*>", text))
                if len(tags) > 1:
                    (a, b), (c, d) = sorted((r.choice(tags).span(), r.choice(tags).span()))
                    text = text if b > c else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
    data = text.encode(r.choice(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1")), "ignore")
    if r.random() < 0.2 and data:
        at = r.randrange(len(data))
        data = data[:at] + bytes([r.randrange(256)]) + data[at + 1 :]
    return data


# ---------------------------------------------------------------- the laws


class Finding(Exception):
    """A law that was broken."""


def outcome(kind: str, data: bytes, folder: Path) -> tuple[bool, int]:
    """Whether the text was read, and how many repairs were reported; Finding when a law is broken."""
    from kane.errors import InputError, KaneError
    from kane.formats import read, read_rotors, read_toml, write_toml
    from kane.mechanism.checks import judge

    path = folder / f"robot{kind}"
    path.write_bytes(data)
    start = time.process_time()
    faulthandler.dump_traceback_later(60, exit=True)  # processor time is judged; this is for what never ends
    repairs = 0
    try:
        if kind == ".motors":
            read_rotors(path)
        else:
            m = read(path)
            repairs = len(m.report.of("repaired"))
            judge(m, "accept")
            if read_toml(write_toml(m)).joints != m.joints:
                raise Finding("the TOML form of it is another robot")
        good = True
    except InputError as error:
        if not (str(error) and error.remedy):
            raise Finding(f"a refusal without a remedy: {error!r}") from error
        good = False
    except KaneError as error:
        raise Finding(f"{type(error).__name__} is no InputError: {error}") from error
    except Finding:
        raise
    except BaseException as error:
        raise Finding(f"crash: {type(error).__name__}: {error}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()
    if (taken := time.process_time() - start) > LIMIT:
        raise Finding(f"slow: {taken:.1f} s")
    return good, repairs


def campaign(
    seed: int, seconds: float = float("inf"), rounds: int = sys.maxsize, kinds: Iterable[str] = (),
    more: Mapping[str, list[str]] | None = None,
) -> tuple[dict[str, int], list[tuple[str, bytes, str]]]:  # fmt: skip
    """Numbers of texts tried by format, and what was found: format, text, which law was broken.

    more: further sound texts by format, to be damaged at random.
    """
    r = random.Random(seed)
    sound, others = corpus(), more or {}
    names = list(kinds) or list(sound)
    counts: dict[str, int] = dict.fromkeys(names, 0)
    found: list[tuple[str, bytes, str]] = []
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repairs = {(k, t): outcome(k, t.encode(), folder)[1] for k in names for t in sound[k]}
        for n in range(rounds):
            if time.monotonic() > end:
                break
            kind = names[n % len(names)]
            counts[kind] += 1
            data = b""
            try:
                text = r.choice(sound[kind])
                bad = damaged_number(kind, text, r) if r.random() < 0.3 else None
                if bad is not None:
                    data = bad.encode()
                    good, said = outcome(kind, data, folder)
                    if good and said <= repairs[kind, text]:
                        raise Finding("a damaged number was read without a word")
                else:
                    data = mutated(sound[kind] + others.get(kind, []) * (r.random() < 0.3), r)
                    outcome(kind, data, folder)
            except Finding as finding:
                found.append((kind, data, str(finding)))
                if len(found) >= 20:
                    break
    return counts, found


def guided(seconds: float, kind: str) -> None:
    """Coverage-guided fuzzing of one reader by atheris, which ends the process; --atheris starts one a format."""
    import atheris  # type: ignore[import-not-found]

    with atheris.instrument_imports(include=["kane.formats", "kane.mechanism"]):
        import kane.formats.dh
        import kane.formats.dispatch
        import kane.formats.sdf
        import kane.formats.toml  # noqa: F401
    folder = Path(tempfile.mkdtemp())
    seeds = folder / "seeds"
    seeds.mkdir()
    for k, text in enumerate(corpus()[kind]):
        (seeds / str(k)).write_text(text)

    def one(data: bytes) -> None:
        outcome(kind, data, folder)

    limits = [f"-max_total_time={seconds:.0f}", "-timeout=20", "-max_len=6000", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={tempfile.gettempdir()}/kane-{kind[1:]}-", str(seeds)], one)
    atheris.Fuzz()


def main() -> int:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("error")  # nothing is printed by a reader
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--atheris", action="store_true")
    options.add_argument("--kind", default="")
    given = options.parse_args()
    if given.kind:
        guided(given.seconds, given.kind)
        return 0
    guide = given.atheris and find_spec("atheris") is not None
    if given.atheris and not guide:
        print("atheris is not installed and has no part in this")
    share = given.seconds / 2 if guide else given.seconds
    counts, found = campaign(given.seed, share, more=robots_of_wheels())
    for kind, data, law in found:
        print(f"{kind}: {law}\n    {data!r}")
    by_kind = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    print(f"seed {given.seed}: {sum(counts.values())} texts ({by_kind}), {len(found)} findings", flush=True)
    status = int(bool(found))
    if guide:
        import subprocess

        kinds = (".urdf", ".sdf", ".csv", ".toml")
        for kind in kinds:
            command = [sys.executable, __file__, "--kind", kind, "--seconds", str(share / len(kinds))]
            status |= int(subprocess.run(command, check=False).returncode != 0)
    return status


if __name__ == "__main__":
    sys.exit(main())
