"""What pytest must not import: scripts that made committed values, with packages of their own."""

collect_ignore_glob = ["**/gen_*.py"]
