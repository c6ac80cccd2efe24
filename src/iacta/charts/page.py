"""A chart as a page of its own, which needs no network."""

import html
import json
from collections.abc import Mapping
from typing import Any

from iacta.charts.theme import PAPER, WIDTH, config

__all__ = ["page"]

MARGIN = 110  # what axes and padding take beside the plot

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
function draw() {{
  const config = structuredClone(configs[dark.matches ? 1 : 0]);
  const room = document.documentElement.clientWidth - {margin};
  const width = Math.max(200, Math.min({width}, room));
  config.view.continuousWidth = config.view.discreteWidth = width;
  const actions = {{export: true, source: false, compiled: false, editor: false}};
  vegaEmbed("#chart", {{...spec, config}}, {{renderer: "svg", actions}});
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
    )


def _in_script(value: object) -> str:
    """Return a value as JSON that cannot end the script in which it stands."""
    return json.dumps(value).replace("<", "\\u003c")
