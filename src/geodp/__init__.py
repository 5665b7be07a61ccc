"""geodp."""
