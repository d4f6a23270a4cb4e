"""Links and joints form one tree: duplicates, missing ends, several roots, several parents and loops are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kane.errors import TopologyError
from kane.mechanism.model import Joint, Link


def check_tree(links: Sequence[Link], joints: Sequence[Joint], file: str | None = None) -> str:
    """The name of the root link of the tree.

    Raises TopologyError naming all culprits and the line of the first: no links, duplicate names, a joint whose parent
    or child does not exist or that joins a link to itself, a link with two parents, a loop, two roots.
    """
    if not links:
        raise TopologyError("There is no link.", file=file, remedy="Describe at least one link.")
    _unique(links, "link", file)
    _unique(joints, "joint", file)
    names = {link.name for link in links}
    for joint in joints:
        for role, end in (("parent", joint.parent), ("child", joint.child)):
            if end not in names:
                raise _error(
                    f"joint {joint.name!r} has the {role} {end!r}, which is not a link.",
                    joint,
                    end,
                    f"Add the link or name one of: {_listed(sorted(names))}.",
                    file,
                )
        if joint.parent == joint.child:
            raise _error(
                f"joint {joint.name!r} joins link {joint.child!r} to itself.",
                joint,
                joint.child,
                "Give it another parent.",
                file,
            )
    parents: dict[str, list[Joint]] = {}
    for joint in joints:
        parents.setdefault(joint.child, []).append(joint)
    for child, above in parents.items():
        if len(above) > 1:
            raise _error(
                f"link {child!r} is the child of {len(above)} joints: {_listed(repr(j.name) for j in above)} "
                f"(parents {_listed(repr(j.parent) for j in above)}).",
                above[1],
                child,
                "Keep one of them and describe the others as loop joints.",
                file,
            )
    roots = [link for link in links if link.name not in parents]
    ring = _loop(parents, links)
    if ring:
        raise _error(
            f"joints {_listed(repr(j.name) for j in ring)} close a loop through the links "
            f"{_listed(repr(j.child) for j in ring)}.",
            ring[0],
            ring[0].child,
            "Cut the loop at one joint.",
            file,
        )
    if len(roots) > 1:
        raise TopologyError(
            f"There are {len(roots)} root links: {_listed(repr(link.name) for link in roots)}.",
            file=file,
            line=roots[1].line,
            element="<link>",
            name=", ".join(link.name for link in roots),
            remedy="Connect them by joints so that one link is left without a parent.",
        )
    return roots[0].name


def _loop(parents: dict[str, list[Joint]], links: Sequence[Link]) -> list[Joint]:
    """The joints of a loop, if there is one; each link has at most one parent here."""
    done: set[str] = set()
    for link in links:
        path: dict[str, int] = {}
        joints: list[Joint] = []
        at = link.name
        while at in parents and at not in done and at not in path:
            path[at] = len(joints)
            joints.append(parents[at][0])
            at = parents[at][0].parent
        if at in path:
            return joints[path[at] :][::-1]
        done.update(path)
    return []


def _unique(items: Sequence[Link] | Sequence[Joint], what: str, file: str | None) -> None:
    twice = [name for name, times in Counter(item.name for item in items).items() if times > 1]
    if twice:
        places = [item for item in items if item.name == twice[0]]
        lines = [str(item.line) for item in places if item.line is not None]
        where = f" (lines {', '.join(lines)})" if lines else ""
        raise TopologyError(
            f"{len(places)} {what}s are named {twice[0]!r}{where}."
            + (f" Also more than once: {_listed(repr(n) for n in twice[1:])}." if twice[1:] else ""),
            file=file,
            line=places[1].line,
            element=f"<{what}>",
            name=", ".join(twice),
            remedy=f"Give every {what} a name of its own.",
        )


def _error(message: str, joint: Joint, name: str, remedy: str, file: str | None) -> TopologyError:
    return TopologyError(
        message, file=file, line=joint.line, element="<joint>", name=joint.name, value=name, remedy=remedy
    )


def _listed(names: object) -> str:
    items = [str(n) for n in names]  # type: ignore[attr-defined]
    return ", ".join(items) if len(items) <= 12 else ", ".join(items[:12]) + f" and {len(items) - 12} more"
