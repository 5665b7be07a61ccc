"""Who pays: receipts today, the durable budget later."""
