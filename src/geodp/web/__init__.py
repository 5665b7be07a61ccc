"""The page in the browser: planner, release, ledger and receipts on this machine alone."""
