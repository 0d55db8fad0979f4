"""The proof: three states, each run several times in fresh containers; what fails before and passes after, every time.

States: `base`; `before` (base + hidden tests); `after` (base + hidden tests + gold patch). The gold patch takes the
very road that a model's patch takes, so a fix which that road would refuse makes no task.
"""

from miner.proof.flakiness_causes import Blamed, blame
from miner.proof.judge import Proof, budgets, judge
from miner.proof.new_api import names_of_fix, new_names
from miner.proof.notebook import STATES, Notebook, ObservedRun, State
from miner.proof.observe import observe
from miner.proof.run import Bench, validate
from miner.proof.runs import DEFAULT_CONFIDENCE, DEFAULT_RUNS, Budget, Repeats, Spending, repeats, troubled
from miner.proof.stability import UNSTABLE, counted, sensitivity, stability_evidence
from miner.proof.subject import Patches, Subject, prepare
