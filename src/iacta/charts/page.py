"""A chart as a page of its own, which needs no network."""

import html
import json
from collections.abc import Mapping
from typing import Any

from iacta.charts.theme import PADDING, PAPER, WIDTH, config

__all__ = ["page"]

MARGIN = 110  # what axes and padding usually take beside the plot
NARROW = 480  # a window in which the letters of titles are smaller
LEAST = 160  # no plot is narrower

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; background: {light}; }}
@media (prefers-color-scheme: dark) {{ body {{ background: {dark}; }} }}
#chart {{ display: block; margin: 0 auto; max-width: {widest}px; overflow-x: auto; }}
</style>
</head>
<body>
<div id="chart"></div>
<script>{script}</script>
<script>
const spec = {spec};
const configs = {configs};
const dark = matchMedia("(prefers-color-scheme: dark)");
let drawing = 0;
async function draw() {{
  const mine = ++drawing;
  const config = structuredClone(configs[dark.matches ? 1 : 0]);
  const room = document.documentElement.clientWidth - 2;  // for what is rounded
  let width = Math.min({width}, room - {margin});
  if (room < {narrow}) {{
    Object.assign(config.title, {{fontSize: 13, subtitleFontSize: 11}});
    config.legend.columns = 2;
  }}
  // How much of the window the labels beside the plot take is known when they are drawn.
  for (let round = 0; round < 3 && mine === drawing; ++round) {{
    config.view.continuousWidth = config.view.discreteWidth = width = Math.max({least}, width);
    const shape = spec.usermeta && spec.usermeta.height_by_width;
    const size = shape ? {{height: Math.round(shape * width)}} : {{}};
    await vegaEmbed("#chart", {{...spec, ...size, config}}, {{renderer: "svg", actions: false}});
    const wide = selector => Math.max(0, ...Array.from(
      document.querySelectorAll(selector), each => each.getBoundingClientRect().width));
    const words = wide("#chart .role-title-text, #chart .role-title-subtitle");
    const excess = wide("#chart svg") - room;
    if (Math.abs(excess) < 1 || (excess < 0 && width >= {width})) break;
    if (words > room - {padding}) {{
      config.title.fontSize *= (room - {padding}) / words;
      config.title.subtitleFontSize *= (room - {padding}) / words;
    }}
    width = Math.min({width}, width - excess);
  }}
}}
draw();
dark.addEventListener("change", draw);
addEventListener("resize", draw);
</script>
</body>
</html>
"""


def page(spec: Mapping[str, Any], script: str) -> str:
    """Return a page that draws a chart as wide as its window, light or dark as its reader has it.

    spec: the Vega-Lite specification.
    script: Vega, Vega-Lite and vega-embed.
    """
    return PAGE.format(
        title=html.escape(str(spec.get("description", "iacta"))),
        light=PAPER[False],
        dark=PAPER[True],
        script=script.replace("</script", "<\\/script"),
        spec=_in_script(spec),
        configs=_in_script([config(dark=False), config(dark=True)]),
        width=WIDTH,
        widest=WIDTH + MARGIN,
        margin=MARGIN,
        narrow=NARROW,
        least=LEAST,
        padding=2 * PADDING,
    )


def _in_script(value: object) -> str:
    """Return a value as JSON that cannot end the script in which it stands."""
    return json.dumps(value).replace("<", "\\u003c")
