"""Write an edited robot back into the user's own URDF: only the numbers that changed are touched."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from kane.errors import UnsupportedError
from kane.formats.source import Source, content_of
from kane.formats.urdf import read_urdf
from kane.formats.urdf_write import inertial_lines, moment_texts, number_text, origin_text
from kane.mechanism.formula import Scalar
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Translate

_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_Path = tuple[str, str, str]  # link or joint, its name, tag inside
_Edit = tuple[int, int, bytes]


def patch_urdf(source: Source, mechanism: Described) -> bytes:
    """The URDF with the inertias, damping and friction of an edited mechanism, and its payloads; the rest is untouched.

    Raises UnsupportedError for other changes (write a new file with write_urdf) and for files that are not in an
    encoding with ASCII as its base.
    """
    mechanism = mechanism_of(mechanism)
    data, file = content_of(source)
    content = data.encode() if isinstance(data, str) else data
    old = read_urdf(content)
    if b"<robot" not in content:
        raise UnsupportedError(
            "The file's encoding does not allow patching.", file=file, remedy="Save it as UTF-8 first."
        )
    tags = _tags(content)
    edits: list[_Edit] = []
    table = {link.name: link for link in mechanism.links}
    joints = {joint.name: joint for joint in mechanism.joints}
    for link in old.links:
        new = table.get(link.name)
        if new is None:
            raise _other(f"link {link.name!r} is gone", link.name, file)
        edits += _link_edits(content, tags, link, new)
    for joint in old.joints:
        changed = joints.get(joint.name)
        kept = (
            None
            if changed is None
            else replace(changed, damping=joint.damping, friction=joint.friction, line=joint.line)
        )
        if changed is None or replace(kept or joint, coordinates=joint.coordinates) != joint:
            raise _other(f"joint {joint.name!r} is changed or gone", joint.name, file)
        edits += _joint_edits(content, tags, joint, changed)
    edits += _additions(content, old, mechanism, file)
    for start, end, text in sorted(edits, reverse=True):
        content = content[:start] + text + content[end:]
    return content


def _other(what: str, name: str, file: str | None) -> UnsupportedError:
    return UnsupportedError(
        f"Only inertias, damping, friction and payloads are written into a file: {what}.", file=file, name=name,
        remedy="Write a new file with write_urdf.",
    )  # fmt: skip


def _tags(content: bytes) -> dict[_Path, tuple[int, int]]:
    """Byte range of the start tags inside each link and joint; the robot's end tag under ("", "", "")."""
    parser = expat.ParserCreate()
    found: dict[_Path, tuple[int, int]] = {}
    path: list[tuple[str, str]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        path.append((tag, attributes.get("name", "")))
        kinds = [p[0] for p in path]
        at = parser.CurrentByteIndex
        owner = path[1] if len(path) > 1 else ("", "")
        if kinds[:1] == ["robot"] and owner[0] in ("link", "joint"):
            inside = "/".join(kinds[2:])
            found.setdefault((*owner, inside), (at, _tag_end(content, at)))

    def end(tag: str) -> None:
        path.pop()
        if not path:
            found["", "", ""] = (parser.CurrentByteIndex, parser.CurrentByteIndex)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(content, True)
    return found


def _tag_end(content: bytes, at: int) -> int:
    """The index after the ">" of the start tag; quotes may hold a ">"."""
    quote = b""
    for k in range(at, len(content)):
        c = content[k : k + 1]
        if quote:
            quote = b"" if c == quote else quote
        elif c in (b'"', b"'"):
            quote = c
        elif c == b">":
            return k + 1
    return len(content)


def _attribute(content: bytes, tag: tuple[int, int], key: str, text: str) -> list[_Edit]:
    """The edit that gives an attribute another value, adding it where it is missing."""
    found = re.search(rb"(?<=[\s\"'])" + key.encode() + rb"\s*=\s*(\"[^\"]*\"|'[^']*')", content[tag[0] : tag[1]])
    if found:
        return [(tag[0] + found.start(1) + 1, tag[0] + found.end(1) - 1, text.encode())]
    close = tag[1] - (2 if content[tag[1] - 2 : tag[1]] == b"/>" else 1)
    return [(close, close, f' {key}="{text}"'.encode())]


def _link_edits(content: bytes, tags: dict[_Path, tuple[int, int]], old: Link, new: Link) -> list[_Edit]:
    before, after = old.inertia, new.inertia
    if before is None:
        return [] if after is None else [_new_inertial(content, tags["link", old.name, ""], after, old.name)]
    after = after or Inertia(Fraction(0))
    if replace(after, line=before.line, resolution=before.resolution) == before:
        return []
    inside = {tag: tags.get(("link", old.name, f"inertial/{tag}")) for tag in ("origin", "mass", "inertia")}
    texts: dict[str, dict[str, str]] = {tag: {} for tag in inside}  # the attributes that change
    if after.mass != before.mass:
        texts["mass"]["value"] = number_text(after.mass, {})
    for k, text in enumerate(moment_texts(after, {})):
        if after.moments[k] != before.moments[k]:
            texts["inertia"][_MOMENTS[k]] = text
    told = dict(re.findall(r'(xyz|rpy)="([^"]*)"', origin_text((Translate(after.com), *after.axes), {}, old.name)))
    for key, differs in (("xyz", after.com != before.com), ("rpy", after.axes != before.axes)):
        if differs:
            texts["origin"][key] = told.get(key, "0 0 0")
    edits: list[_Edit] = []
    fresh = ""
    for tag, changes in texts.items():
        place = inside[tag]
        if place is not None:
            for key, text in changes.items():
                edits += _attribute(content, place, key, text)
        elif changes:
            fresh += f"<{tag} " + " ".join(f'{key}="{text}"' for key, text in changes.items()) + "/>"
    return edits + ([_inside(content, tags["link", old.name, "inertial"], "inertial", fresh)] if fresh else [])


def _new_inertial(content: bytes, tag: tuple[int, int], inertia: Inertia, name: str) -> _Edit:
    lines = "\n".join(inertial_lines(inertia, {}, f"link {name!r}", "    "))
    return _inside(content, tag, "link", f"\n{lines}\n  ")


def _inside(content: bytes, tag: tuple[int, int], name: str, text: str) -> _Edit:
    """The edit that puts text first inside an element."""
    if content[tag[1] - 2 : tag[1]] == b"/>":
        return (tag[1] - 2, tag[1], f">{text}</{name}>".encode())
    return (tag[1], tag[1], text.rstrip(" ").removesuffix("\n").encode())


def _joint_edits(content: bytes, tags: dict[_Path, tuple[int, int]], old: Joint, new: Joint) -> list[_Edit]:
    edits: list[_Edit] = []
    pairs: list[tuple[str, Scalar, Scalar]] = [
        ("damping", old.damping, new.damping),
        ("friction", old.friction, new.friction),
    ]
    changed = [(key, number_text(after, {})) for key, before, after in pairs if before != after]
    tag = tags.get(("joint", old.name, "dynamics"))
    if changed and tag is None:
        at = tags["joint", old.name, ""][1]
        return [(at, at, ("<dynamics " + " ".join(f'{k}="{t}"' for k, t in changed) + "/>").encode())]
    for key, text in changed:
        assert tag is not None
        edits += _attribute(content, tag, key, text)
    return edits


def _additions(content: bytes, old: Mechanism, new: Mechanism, file: str | None) -> list[_Edit]:
    """Links on fixed joints that the file does not have, before its end tag."""
    known = {link.name for link in old.links}
    had = {joint.name for joint in old.joints}
    lines: list[str] = []
    for link in new.links:
        if link.name not in known:
            inertia = [] if link.inertia is None else inertial_lines(link.inertia, {}, link.name, "    ")
            lines += [f"  <link name={quoteattr(link.name)}>", *inertia, "  </link>"]
    for joint in new.joints:
        if joint.name not in had:
            if joint.type != "fixed":
                raise _other(f"joint {joint.name!r} is new", joint.name, file)
            origin = origin_text(joint.placement, {}, joint.name)
            lines += [
                f'  <joint name={quoteattr(joint.name)} type="fixed">',
                *([f"    <origin {origin}/>"] if origin else []),
                f"    <parent link={quoteattr(joint.parent)}/>",
                f"    <child link={quoteattr(joint.child)}/>",
                "  </joint>",
            ]
    if not lines:
        return []
    at = _tags(content)["", "", ""][0]
    return [(at, at, ("\n".join(lines) + "\n").encode())]
