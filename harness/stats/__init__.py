"""What a score can and cannot say. Pure functions; each names the source of its formula. See docs/statistics.md."""

from harness.stats.intervals import (
    Z_95,
    Interval,
    clean_bound,
    clean_runs,
    mean_interval,
    standard_error,
    wilson,
    worth_clustering,
)
from harness.stats.paired import (
    Alternative,
    PairedTest,
    difference_interval,
    holm,
    least_error,
    mcnemar_exact,
    sign_flip,
    two_groups,
)
from harness.stats.planning import (
    mcnemar_detectable,
    mcnemar_power,
    minimum_detectable_effect,
    needed_samples,
    needed_tasks,
)
from harness.stats.samples import pass_at_k, pass_hat_k

__all__ = [
    "Z_95",
    "Alternative",
    "Interval",
    "PairedTest",
    "clean_bound",
    "clean_runs",
    "difference_interval",
    "holm",
    "least_error",
    "mcnemar_detectable",
    "mcnemar_exact",
    "mcnemar_power",
    "mean_interval",
    "minimum_detectable_effect",
    "needed_samples",
    "needed_tasks",
    "pass_at_k",
    "pass_hat_k",
    "sign_flip",
    "standard_error",
    "two_groups",
    "wilson",
    "worth_clustering",
]
