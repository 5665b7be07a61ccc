"""Templates and the few files that pages load."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from geodp.io.declared import LAYOUTS
from geodp.plots.plot import figure_size
from geodp.report import parts, words
from geodp.report.inference import section
from geodp.report.spaces import name_of, tables_of
from geodp.web.asking import INFERENCE
from geodp.web.chart import HEIGHT, WIDTH
from geodp.web.estimates import mechanisms
from geodp.web.fields import Fields
from geodp.web.question import BALL_FIELDS, NOTIONS, START, STATISTICS

_SPACES = (
    "spd:3:affine-invariant",
    "spd:3:log-euclidean",
    "spd:2",
    "sphere:2",
    "shapes:8",
    "hyperbolic:5",
    "euclidean:3",
    "sphere:2+euclidean:1",
)
_HEADERS = (("", "no CSV"), ("yes", "a header"), ("no", "a record"))
_FILES = {
    "report.css": ("geodp.report", "style.css", "text/css"),
    "page.css": ("geodp.web", "static/page.css", "text/css"),
    "page.js": ("geodp.web", "static/page.js", "text/javascript"),
    "htmx.min.js": ("geodp.web", "static/htmx.min.js", "text/javascript"),
    "icon.svg": ("geodp.web", "static/icon.svg", "image/svg+xml"),
}


@final
class Pages:
    """The templates, every text escaped, and what all of them may use."""

    def __init__(self, csrf: str) -> None:
        self._made = Environment(
            loader=PackageLoader("geodp.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._made.globals.update(
            csrf=csrf,
            spaces=_SPACES,
            notions=NOTIONS,
            notion_options=[(name, notion.label) for name, notion in NOTIONS.items()],
            statistic_options=[(name, name) for name in STATISTICS]
            + [(INFERENCE, "frechet-mean with confidence region, and variance")],
            mechanism_options=[(name, name) for name in ("best", *mechanisms())],
            layout_options=[("", "as the library holds points"), *((x, x) for x in LAYOUTS)],
            header_options=_HEADERS,
            planner_fields=tuple(START),
            view_query=_query,
            width=WIDTH,
            height=HEIGHT,
            words=words,
            name_of=name_of,
            tables=_tables,
            facts=lambda release: Markup(parts.facts(release)),
            inference=lambda found: Markup(section("", found)),
            detection=lambda release: Markup(parts.detection(release)),
        )

    def render(self, name: str, **given: Any) -> str:
        """A page, or a part of one."""
        return self._made.get_template(name).render(**given)


def is_broad(release: Any) -> bool:
    """Whether its picture takes the page's whole width."""
    across, down = figure_size(release.space)
    return bool(across > 1.4 * down)


def _query(fields: Fields) -> str:
    """What a release takes over from the planner."""
    names = ("space", *BALL_FIELDS, "notion", "amount", "second")
    return urlencode({name: fields.text(name) for name in names if fields.text(name)})


def _tables(release: Any) -> Markup:
    unit = None if release.domain is None else release.domain.physical_unit
    made = tables_of(release.space, release.value, unit)
    return Markup("".join(map(parts.table, made)))


async def static(request: Request) -> Response:
    """A file of ours, by its name."""
    name = request.path_params["name"]
    if name not in _FILES:
        return Response("There is no such file.\n", 404, media_type="text/plain")
    package, path, kind = _FILES[name]
    return Response(files(package).joinpath(path).read_bytes(), media_type=kind)
