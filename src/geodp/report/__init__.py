"""One self-contained HTML page for one or more receipts: ``geodp.report.report`` and ``html``."""

from geodp.report.page import html, report

__all__ = ["html", "report"]
