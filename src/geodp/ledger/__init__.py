"""Who pays: the durable budget, and receipts."""
