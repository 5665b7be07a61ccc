"""Published errors of composed ℓ2-Laplace noise by certified loss distributions.

Wei, Bienstock and Polychroniadou (2026), Figure 3: T = 10, total (1, 1e-5), mean squared error of
each of k releases. Fails where one is more than 0.5 % off. ``make study``.
"""

from __future__ import annotations

from recording import Run

import geodp as gd
from geodp.privacy.shares import share_of

PUBLISHED = {2: 227.1, 4: 530.5, 8: 1142.0, 16: 2367.0, 32: 4817.0}
DIM = 10


def main() -> int:
    run = Run.parse("composition", __doc__.splitlines()[0])
    rows = []
    for k, published in list(PUBLISHED.items())[: run.count(len(PUBLISHED))]:
        ratio = float(share_of("l2-laplace", DIM, gd.ApproxDP(1, "1e-5"), k))
        rows.append({"k": k, "mse": DIM * (DIM + 1) / ratio**2, "published": published})
        print(rows[-1], flush=True)
    run.table("composition", rows)
    off = max(abs(float(row["mse"]) / float(row["published"]) - 1) for row in rows)
    run.document("composition", {"largest_difference": off})
    return 0 if off < 5e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
