"""What a score can and cannot say. Pure functions; each names the source of its formula. See docs/statistics.md."""

from harness.stats.intervals import (
    Z_95,
    Interval,
    clean_bound,
    clean_runs,
    mean_interval,
    pass_at_k,
    pass_hat_k,
    standard_error,
    wilson,
    worth_clustering,
)
from harness.stats.paired import (
    LEVEL,
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
