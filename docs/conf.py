"""Sphinx configuration. Build: ``sphinx-build -W -n -b html docs docs/_build/html``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "geodp"
author = "The geodp developers"
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",
    "public_names",
    "command_line",
    "row_anchors",
]
exclude_patterns = ["_build"]
root_doc = "index"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
myst_update_mathjax = False

# Formulas become MathML at build time: the pages load no script and nothing from the network.
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "geodp"
html_static_path = ["_static"]
html_css_files = ["math.css"]
html_show_sourcelink = False
html_copy_source = False

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True, "exclude-members": "_abc_impl"}
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Array", "BoolArray")}
default_role = "code"
