"""Colors of charts as variables of the page, each with a lighter or darker one for dark pages."""

from __future__ import annotations

import colorsys
import re
from typing import Any

THEME = {
    "ink": ("#1c1e21", "#e8e8e4"),
    "soft": ("#5c6470", "#a3a9b2"),
    "paper": ("#fdfdfc", "#16181b"),
    "card": ("#f3f4f2", "#202327"),
    "line": ("#d9dcd6", "#383d43"),
    "link": ("#1d5a8c", "#8fc1ec"),
    "good": ("#1b6e46", "#6fcf9c"),
    "part": ("#8a5a00", "#e8b860"),
    "bad": ("#a3262a", "#f28b8e"),
    "own": ("#b3402a", "#e5765f"),
    "others": ("#2f6f8f", "#7ab8d6"),
    "band": ("#e6e9ec", "#2c3238"),
}
"""Colors of the page, on light and on dark."""

_HEX = re.compile(r"#[0-9a-fA-F]{6}")
_NAMED = {"white": "#ffffff", "black": "#000000"}
_COLOR_KEYS = frozenset({"color", "fill", "stroke", "range", "value", "background"})
"""Where a specification names colors; a word that looks like one stands elsewhere."""
_DARK, _LIGHT, _GRAY = 0.4, 0.8, 0.25
_EXTENT = [0.2, 0.85]
"""The part of a continuous scheme that shows on white and on black."""


def themed(spec: Any) -> Any:  # noqa: ANN401 - a specification
    """A copy of a specification whose colors are variables of the page; its data stay as they are.

    Where colors are mixed from others by number, as in a heat map, neither those nor what is written on them change.
    """
    return _themed(spec, "", _COLOR_KEYS - {"range", "value"} if mixes_colors(spec) else _COLOR_KEYS)


def mixes_colors(spec: object) -> bool:
    """Return whether colors are interpolated from numbers, as in a heat map."""
    if isinstance(spec, list):
        return any(mixes_colors(item) for item in spec)
    if not isinstance(spec, dict):
        return False
    scale = spec.get("scale")
    numbers = spec.get("type") == "quantitative" and isinstance(scale, dict)
    has_colors = numbers and any(_HEX.fullmatch(str(color)) for color in scale.get("range", ()))  # type: ignore[union-attr]
    return has_colors or any(mixes_colors(item) for name, item in spec.items() if name not in {"datasets", "data"})


def _themed(spec: Any, key: str, color_keys: frozenset[str]) -> Any:  # noqa: ANN401 - any part of a specification
    if isinstance(spec, dict):
        if spec.get("scheme") == "viridis":
            return {**spec, "scheme": {"name": "viridis", "extent": _EXTENT}}
        return {
            name: item if name in {"datasets", "data", "sort"} else _themed(item, name, color_keys)
            for name, item in spec.items()
        }
    if isinstance(spec, list):
        return [_themed(item, key, color_keys) for item in spec]
    if isinstance(spec, str) and key in color_keys:
        color = _NAMED.get(spec, spec)
        return f"var({variable(color)})" if _HEX.fullmatch(color) else spec
    return spec


def variable(color: str) -> str:
    """Name of a color's variable."""
    return f"--c{color[1:].lower()}"


def on_dark(color: str) -> str:
    """The same hue as it shows on a dark page: dark ones lighter, pale ones and grays the other way round."""
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    if lightness < _DARK or lightness > _LIGHT or saturation < _GRAY:
        lightness = 1 - lightness * 0.9
    changed = colorsys.hls_to_rgb(hue, lightness, saturation)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in changed)


def style_sheet(text: str) -> str:
    """The page's own colors and those whose variables occur in `text`, for light and dark pages; paper is light."""
    digits = sorted(set(re.findall(r"var\(--c([0-9a-f]{6})\)", text)))
    both = {f"--{name}": pair for name, pair in THEME.items()}
    both |= {variable(f"#{hexadecimal}"): (f"#{hexadecimal}", on_dark(f"#{hexadecimal}")) for hexadecimal in digits}
    light, dark = (" ".join(f"{name}: {pair[index]};" for name, pair in both.items()) for index in (0, 1))
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        "@media screen and (prefers-color-scheme: dark) { "
        f':root:not([data-theme="light"]) {{ color-scheme: dark; {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ color-scheme: dark; {dark} }} }}\n'
    )
