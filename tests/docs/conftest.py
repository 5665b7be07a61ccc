"""The runner of the pages' code blocks lies beside Sphinx's extensions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))
