"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from geodp.arguments import text_or_none
from geodp.cli.strategies import MECHANISMS, STATISTICS
from geodp.errors import InputError
from geodp.io import matrices_layout
from geodp.io.declared import LAYOUTS

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]


def writable_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Text that a receipt or a ledger can hold; bytes that are no UTF-8 are refused."""
    try:
        return text_or_none(value, "The text")
    except InputError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def _columns(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | tuple[str, ...] | None:
    """An order of a matrix's components, or else the names of columns."""
    text = writable_text(ctx, param, value)
    if text is None or text in matrices_layout.LAYOUTS:
        return text
    return tuple(name.strip() for name in text.split(","))


def _all(*options: Decorator[Any]) -> Decorator[Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


space_option = click.option(
    "--space",
    required=True,
    metavar="S",
    help="Where records live: euclidean:3, spd:3, spd:3:log-euclidean, sphere:2, hyperbolic:5, "
    "shapes:5, a product such as sphere:2+euclidean:1, or a power such as spd:3^1000.",
)

spec_or_space_option = click.option(
    "--space", metavar="S", help="Where records live, as for geodp plan; a SPEC says it itself."
)

layout_options = _all(
    click.option(
        "--layout",
        type=click.Choice(LAYOUTS),
        help="How numbers spell a point. SPD: full, lower (xx xy yy xz yz zz), upper (xx xy xz yy "
        "yz zz), diagonal-first (xx yy zz xy xz yz). sphere:2: the angles, and vectors. "
        "Hyperbolic: poincare, or the hyperboloid. Shapes: wide (x1 y1 x2 y2 ..., default), split "
        "(x1 x2 ... y1 y2 ...), long (lines of specimen, landmark, x, y), pkn (R's arrays).",
    ),
    click.option(
        "--columns",
        callback=_columns,
        metavar="NAME,NAME,...",
        help="The columns of a CSV file that spell a point, by the header's names, in the order of "
        "the layout; others are passed over. Or full, lower, upper or diagonal-first, as by "
        "--layout, for SPD matrices.",
    ),
    click.option("--lonlat", is_flag=True, help="Directions as longitude, latitude in degrees."),
    click.option("--poincare", is_flag=True, help="Hyperbolic points in Poincaré's unit ball."),
)

REPLACED = "0.01"
replaced_option = click.option(
    "--replaced",
    default=REPLACED,
    metavar="SHARE",
    help="Part of the promise for the noisy share of records that the public rule moved or "
    "replaced; 0 switches it off. Default: 0.01.",
)

file_options = _all(
    layout_options,
    click.option("--key", metavar="NAME", help="Which array of a .npz file."),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a CSV file is a header or a record. A release must be "
        "told; inspect, left alone, calls it a header if every cell of it is a word (no number "
        "and no sign for a missing value).",
    ),
    click.option(
        "--subjects",
        is_flag=True,
        help="Several NIfTI files of tensors: each FILE is one record, of the voxels of --mask or "
        "the means of the regions of --atlas. Without it each voxel of one FILE is a record.",
    ),
    click.option("--mask", metavar="FILE", help="NIfTI: the public mask of voxels to take."),
    click.option("--atlas", metavar="FILE", help="NIfTI: the public regions, by whole numbers."),
)

ball_options = _all(
    click.option(
        "--center",
        metavar="P",
        help="The ball's public centre: origin, a file with one point, or numbers such as 0,0,1.",
    ),
    click.option("--radius", type=float, metavar="R", help="The ball's public radius, a length."),
    click.option(
        "--eigenvalues",
        type=float,
        nargs=2,
        metavar="LO HI",
        help="Instead of centre and radius, on SPD: public limits of the eigenvalues.",
    ),
    click.option(
        "--degrees",
        type=float,
        nargs=3,
        metavar="LON LAT ANGLE",
        help="Instead of centre and radius, on sphere:2: the cap of ANGLE degrees.",
    ),
    click.option(
        "--physical-unit",
        callback=writable_text,
        metavar="TEXT",
        help="What one unit of the raw records is, for the receipt.",
    ),
    click.option(
        "--component-order",
        callback=writable_text,
        metavar="TEXT",
        help='What their components are, in order, such as "xx xy yy", for the receipt.',
    ),
    click.option(
        "--frame",
        callback=writable_text,
        metavar="TEXT",
        help="Which axes they refer to, such as scanner, for the receipt.",
    ),
)


def _no_guarantee(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            "A number alone is no guarantee: say --pure EPS, --approx EPS DELTA, --gdp MU, "
            "--renyi ALPHA EPS or --zcdp RHO.",
            ctx,
        )


guarantee_options = _all(
    click.option(
        *("--epsilon", "--eps", "--delta", "--mu", "--rho"),
        hidden=True,
        expose_value=False,
        callback=_no_guarantee,
    ),
    click.option("--pure", multiple=True, metavar="EPS", help="Pure epsilon-DP."),
    click.option(
        "--approx", multiple=True, type=(str, str), metavar="EPS DELTA", help="(epsilon, delta)-DP."
    ),
    click.option("--gdp", multiple=True, metavar="MU", help="Gaussian DP."),
    click.option(
        "--renyi",
        multiple=True,
        type=(str, str),
        metavar="ALPHA EPS",
        help="Rényi DP of one order.",
    ),
    click.option("--zcdp", multiple=True, metavar="RHO", help="Zero-concentrated DP."),
)

footpoint_option = click.option(
    "--footpoint",
    metavar="P",
    help="Wrapped mechanisms only: where the noise is wrapped, the ball's centre (default), "
    "origin, a file or numbers, or private[:SHARE] to spend a share of the guarantee (1/4) on "
    "finding it.",
)


def mechanism_option(**how: Any) -> Decorator[Any]:
    """--mechanism for a command that chooses among several."""
    return click.option("--mechanism", type=click.Choice(MECHANISMS), **how)


one_mechanism_option = click.option(
    "--mechanism",
    type=click.Choice(MECHANISMS[1:]),
    required=True,
    help="The mechanism, by name.",
)

statistic_option = click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    help="What to release: frechet-mean (default), or a relative of it that estimates another "
    "point; or frechet-variance, the mean squared distance from the mean, a number. The extrinsic "
    "mean (spheres and shapes) needs no ball; the median needs --mechanism k-norm-gradient.",
)

bound_option = click.option(
    "--bound",
    type=click.Choice(["sharp", "published"]),
    default="sharp",
    help="Which proven sensitivity of the Fréchet mean (positive curvature only).",
)

ledger_key_option = click.option(
    "--key",
    "key_file",
    metavar="FILE",
    help="The ledger's key file (default: beside the ledger, or $GEODP_LEDGER_KEY).",
)

ledger_options = _all(
    click.option(
        "--ledger", metavar="L", help="Who pays: a ledger's file, or a postgresql:// URL."
    ),
    click.option(
        "--ledger-key",
        metavar="FILE",
        help="The ledger's key file (default: beside the ledger, or $GEODP_LEDGER_KEY).",
    ),
    click.option(
        "--dataset",
        callback=writable_text,
        metavar="NAME",
        help="The records' name in the ledger; its first use registers them.",
    ),
    click.option(
        "--group",
        callback=writable_text,
        metavar="WHAT=LABEL",
        help="The records are those of one public label, such as site=A; disjoint groups are "
        "charged in parallel.",
    ),
)

json_option = click.option(
    "--json", "quiet", is_flag=True, help="Only the JSON document on stdout, no prose on stderr."
)
