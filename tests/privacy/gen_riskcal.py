"""Writes the values of test_pld_riskcal.py; needs riskcal 1.5.1 and dp-accounting, not geodp."""

from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal.analysis import get_advantage_from_pld, get_beta_from_pld

GAUSSIAN = pld.from_gaussian_mechanism(10.0, value_discretization_interval=1e-4)
LAPLACE = pld.from_laplace_mechanism(10.0, value_discretization_interval=1e-4)
WIDE = pld.from_gaussian_mechanism(2.0, value_discretization_interval=1e-4)
CASES = {
    "100 gaussian": GAUSSIAN.self_compose(100),
    "100 laplace": LAPLACE.self_compose(100),
    "mixture": WIDE.self_compose(4).compose(LAPLACE.self_compose(20)),
}

for name, whole in CASES.items():
    betas = [float(get_beta_from_pld(whole, alpha=a)) for a in (0.01, 0.1, 0.5)]
    print(f'    "{name}": ({float(get_advantage_from_pld(whole))!r}, {betas!r}),')
