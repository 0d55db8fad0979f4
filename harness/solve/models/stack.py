"""What stands between an agent and a model's client.

    agent → response cache → retries → turns at the endpoint → limits and prices → client

The cache comes first, so that an answer from it costs neither money nor a turn. Each try is paid for by itself, and
a question that waits before it is asked again holds no turn.
"""

from __future__ import annotations

import random
from datetime import timedelta

from harness.core.errors import InputError
from harness.solve.base import Model, Reply, Request
from harness.solve.models.meter import Limits, Meter, Metered, Spending
from harness.solve.models.prices import Prices
from harness.solve.models.response_cache import Asker, ResponseCache
from harness.solve.models.retry import Retrying, RetryPolicy
from harness.solve.models.throttle import Clock, SystemClock, Throttle, Throttled

_OLD_PRICE = timedelta(days=180)


class Wrapped:
    """A model with all its layers, shared by the threads of one call."""

    def __init__(
        self,
        model: Model,
        *,
        endpoint: str,
        prices: Prices,
        limits: Limits,
        cache: ResponseCache | None,
        clock: Clock | None = None,
        jobs: int = 1,
        api: str = "chat",
        floating: bool = True,
        earlier: Spending | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        """Put the layers around a model's client.

        Args:
            model: asks the endpoint once and tries nothing again (the `openai` client's `max_retries` must be 0).
            endpoint: its base URL, without a key: prices and cached answers go by it.
            prices: what tokens cost.
            limits: what may be spent.
            cache: of answers; None for none.
            clock: this machine's, by default.
            jobs: questions at once, at most.
            api: `chat` or `responses`.
            floating: whether the name may mean another model tomorrow; then a cached answer holds for the day.
            earlier: what earlier calls for the same predictions spent.
            policy: what is asked again, and how patiently.

        Raises:
            InputError: money is limited and the model's price is not known.

        """
        clock = clock or SystemClock()
        today = clock.now().date()
        self._model, self._cache, self._policy = model, cache, policy or RetryPolicy()
        self._meter = Meter(
            endpoint=endpoint, model=model.name, prices=prices, limits=limits, clock=clock, earlier=earlier
        )
        price = self._meter.price()
        if limits.of_money and price is None:
            raise InputError(
                f"money is limited, but what {model.name} costs at {endpoint} is not known",
                hint="give its price with --assume-price IN/OUT (dollars for a million tokens; 0/0 where it is free) "
                "or in a file with --prices; or limit tokens with --max-tokens",
            )
        notes = []
        if price is None:
            notes.append(f"no price is known for {model.name} at {endpoint}: costs will be null (see --prices)")
        elif today - price.seen > _OLD_PRICE:
            notes.append(f"the price of {model.name} was last looked up on {price.seen}; see --prices")
        self.notes = tuple(notes)
        """What a person should know before money is spent."""
        self._throttle = Throttle(clock, most=jobs, longest_pause=self._policy.longest_asked)
        self._asker = Asker(endpoint=endpoint, api=api, model=model.name, day=today if floating else None)
        self._chance = random.Random()  # noqa: S311 - spreads waits, keeps no secret

    @property
    def spent(self) -> Spending:
        """By now, over all attempts, earlier calls included."""
        return self._meter.spent

    def for_attempt(self) -> AttemptModel:
        """The model for one attempt at one task; its limits of time begin now."""
        metered = self._meter.attempt(self._model)
        retrying = Retrying(
            Throttled(metered, self._throttle),
            self._throttle,
            policy=self._policy,
            chance=self._chance,
            may_wait=metered.may_wait,
        )
        return AttemptModel(retrying, metered, asker=self._asker, cache=self._cache)

    def stop(self) -> None:
        """End gracefully: no further question is asked, and those that wait for their turn give up."""
        self._throttle.stop()
        self._meter.stop()


class AttemptModel:
    """What an agent asks during one attempt; a `Model`."""

    def __init__(self, model: Model, metered: Metered, *, asker: Asker, cache: ResponseCache | None) -> None:
        self._model, self._metered = model, metered
        self.name = model.name
        self._asker, self._cache = asker, cache

    def ask(self, request: Request) -> Reply:
        """As `Model.ask`."""
        key = self._asker.key(request) if self._cache else b""
        if self._cache and (reply_kept := self._cache.get(key)):
            self._metered.count(Spending(cached=1))
            return reply_kept
        reply = self._model.ask(request)
        self._metered.count(Spending(retries=len(reply.retries)))
        if self._cache:
            self._cache.store(key, reply)
        return reply
