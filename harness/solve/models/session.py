"""A model at its endpoint, opened for one call: the client and its layers, closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from harness.solve.models.endpoint import Endpoint, is_pinned
from harness.solve.models.meter import Limits, Spending
from harness.solve.models.openai_model import OpenAIModel
from harness.solve.models.prices import Prices
from harness.solve.models.response_cache import ResponseCache
from harness.solve.models.stack import Wrapped


@contextmanager
def opened(
    model: str,
    endpoint: Endpoint,
    *,
    environment: Mapping[str, str],
    prices: Prices,
    limits: Limits,
    cache: AbstractContextManager[ResponseCache | None],
    jobs: int,
    earlier: Spending,
    warn: Callable[[str], None],
) -> Iterator[Wrapped]:
    """The model with all its layers. `warn` is told what a person should know before money is spent.

    Raises:
        InputError: an unusable endpoint or cache, no key, or money is limited and the model's price is not known.

    """
    with OpenAIModel(model, endpoint, environment=environment) as client, cache as answers:
        wrapped = Wrapped(
            client,
            endpoint=endpoint.base_url,
            prices=prices,
            limits=limits,
            cache=answers,
            jobs=jobs,
            api=endpoint.api.value,
            floating=not is_pinned(model),
            earlier=earlier,
        )
        for text in (*client.warnings(), *wrapped.notes):
            warn(text)
        yield wrapped
