"""What is promised, and what it costs: guarantees, certified profiles, calibration. No geometry."""
