"""Shapes and colours of a URDF, for drawing: never a reason to stop reading."""

from __future__ import annotations

from kane.errors import NumberError
from kane.formats.reading import Color, Reader
from kane.formats.xml import Element
from kane.mechanism.model import Geometry, Placement

_SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",)}


def read_shapes(reader: Reader, visual: Element, owner: str) -> list[Geometry]:
    """The shapes of a <visual>; drawing never stops the reading, so damaged ones are dropped with a note."""
    geometry = visual.first("geometry")
    if geometry is None:
        return []
    try:
        placement = reader.numbers.placement(visual.first("origin"), owner)
        color = _color(reader, visual.first("material"), owner)
        return [g for shape in geometry.children if (g := _shape(reader, shape, placement, color, owner)) is not None]
    except NumberError as error:
        if reader.strict:
            raise
        reader.note("ignored", f"shape of {owner} not drawn: {error.message}", owner, error.line)
        return []


def _shape(reader: Reader, shape: Element, placement: Placement, color: Color | None, owner: str) -> Geometry | None:
    get = shape.attributes.get
    if shape.tag == "mesh":
        scale = get("scale")
        size = () if scale is None else tuple(float(v) for v in reader.numbers.vector(_three(scale), shape, owner))
        return Geometry("mesh", size, placement, get("filename", ""), color)
    keys = _SIZES.get(shape.tag)
    if keys is None:
        return None
    values = [part for key in keys for part in get(key, "").split()]
    return Geometry(shape.tag, tuple(float(reader.numbers.one(v, shape, owner)) for v in values), placement, "", color)


def _three(scale: str) -> str:
    return scale if len(scale.split()) != 1 else f"{scale} {scale} {scale}"


def _color(reader: Reader, material: Element | None, owner: str) -> Color | None:
    if material is None:
        return None
    color = material.first("color")
    if color is None:
        return reader.materials.get(material.attributes.get("name", ""))
    parts = color.attributes.get("rgba", "").split()
    if len(parts) != 4:
        return None
    r, g, b, a = (float(reader.numbers.one(part, color, owner)) for part in parts)
    return r, g, b, a


def read_materials(reader: Reader, root: Element) -> None:
    """Colours of named materials; a damaged one has no colour."""
    for element in root.all("material"):
        try:
            color = _color(reader, element, "material")
        except NumberError as error:
            if reader.strict:
                raise
            reader.note("ignored", f"colour not used: {error.message}", element.attributes.get("name", ""), error.line)
            continue
        if color is not None:
            reader.materials[element.attributes.get("name", "")] = color
