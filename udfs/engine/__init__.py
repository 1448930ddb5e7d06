"""What runs the functions: the registry, their effects, the batch that answers them, the session."""

from udfs.engine.batch import Reader, answer
from udfs.engine.costs.estimator import CostEstimator, Guess, spread
from udfs.engine.costs.snapshot import Snapshot
from udfs.engine.effects import EVER, gather, have, need
from udfs.engine.registry import REGISTRY, Udf, find
from udfs.engine.run import Run
from udfs.engine.scheduler import LIGHT_ITEMS_A_LOOK, TURNS, in_background, in_turns, next_turn, yielding
from udfs.engine.session import Answered, Call, CostPreview, Outcome, Session, Stale, runs_last

__all__ = [
    "EVER",
    "LIGHT_ITEMS_A_LOOK",
    "REGISTRY",
    "TURNS",
    "Answered",
    "Call",
    "CostEstimator",
    "CostPreview",
    "Guess",
    "Outcome",
    "Reader",
    "Run",
    "Session",
    "Snapshot",
    "Stale",
    "Udf",
    "answer",
    "find",
    "gather",
    "have",
    "in_background",
    "in_turns",
    "need",
    "next_turn",
    "runs_last",
    "spread",
    "yielding",
]
