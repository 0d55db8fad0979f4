"""A server of ours that speaks the OpenAI API's own dialect, for the real `openai` client: what it answers is scripted.

Bodies, both ways, are held against the types of the `openai` package, which are generated from the official document.
"""

from tests.model_server.behaviours import (
    Asked,
    Behaviour,
    Call,
    Fail,
    Say,
    Spent,
    overflow,
    rate_limit,
    server_error,
    storm,
)
from tests.model_server.server import ModelServer

__all__ = [
    "Asked",
    "Behaviour",
    "Call",
    "Fail",
    "ModelServer",
    "Say",
    "Spent",
    "overflow",
    "rate_limit",
    "server_error",
    "storm",
]
