"""``python -m geodp``."""

from geodp.cli import main

if __name__ == "__main__":
    main(prog_name="geodp")
