"""Limits of money, tokens and time: looked at before each question, with room kept for those that are in flight.

Before a question is sent, the most that it may cost is reserved: its prompt counted high (`tokens.at_most`, or more
where this endpoint was seen to count higher) and `max_output_tokens`, or where there is none the longest answer so far,
at least `UNBOUNDED_OUTPUT`. It is sent only where spent + reserved stays within every limit; where answers that are in
flight may still leave room, it waits for them. So a limit is passed only by what an answer costs beyond its own
reservation, at most once for each question in flight: nothing, where every question has `max_output_tokens`. Of an
answer that broke off nobody says what it cost: its prompt takes room for good, and is not counted as spent.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field, fields, replace

from harness.solve.base import Fault, LimitReachedError, Model, ModelError, Reply, Request, Usage
from harness.solve.models import tokens
from harness.solve.models.prices import Price, Prices
from harness.solve.models.throttle import Clock
from harness.solve.models.tokens import IMPOSSIBLE, INCONSISTENT

UNBOUNDED_OUTPUT = 4096
"""Tokens reserved for an answer whose length nothing bounds, until a longer one was seen."""
_MOST_BYTES_PER_TOKEN = 64
"""No tokenizer packs prose or code so tightly: an endpoint that counts fewer prompt tokens than that is wrong."""
ODD = frozenset({IMPOSSIBLE, INCONSISTENT})
_MOST_OUTPUT = 1_000_000
"""Tokens; no model writes as many in one answer."""
_ENOUGH_TO_TELL = 2000
"""Bytes of a prompt from which on a chat template's own tokens no longer hide how an endpoint counts."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What may be spent; None bounds nothing."""

    cost: float | None = None
    """US dollars, over all calls for one predictions file."""
    tokens: int | None = None
    """Read and written, over all calls for one predictions file."""
    minutes: float | None = None
    """Of this call, by the clock on the wall."""
    task_cost: float | None = None
    """Of one attempt at one task, as the next two."""
    task_tokens: int | None = None
    task_minutes: float | None = None

    @property
    def of_money(self) -> bool:
        return self.cost is not None or self.task_cost is not None


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What questions came to; answers from the cache cost nothing and are in `cached` alone."""

    cost: float = 0.0
    """US dollars, as far as prices are known."""
    unpriced: int = 0
    """Answers whose price is not known."""
    estimated: int = 0
    """Answers whose tokens were estimated, since the endpoint did not tell them or told what can't be."""
    input_tokens: int = 0
    output_tokens: int = 0
    questions: int = 0
    """Sent to the endpoint and answered."""
    broken: int = 0
    """Tries that broke off: the endpoint may bill them, and does not say for how much."""
    cached: int = 0
    """Answered from the response cache."""
    retries: int = 0
    """Tries that failed and were made again."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def as_json(self) -> dict[str, float | None]:
        """What a command says of it with `--json`; the cost is null where a price is not known."""
        return {
            "cost_usd": None if self.unpriced else self.cost,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "questions": self.questions,
            "cached": self.cached,
            "retries": self.retries,
        }

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            **{
                spent_field.name: getattr(self, spent_field.name) + getattr(other, spent_field.name)
                for spent_field in fields(Spending)
            }
        )


@dataclass(frozen=True, kw_only=True)
class _Share:
    """Money and tokens, of one question or of several."""

    cost: float = 0.0
    tokens: int = 0

    def __add__(self, other: _Share) -> _Share:
        return _Share(cost=self.cost + other.cost, tokens=self.tokens + other.tokens)

    def __sub__(self, other: _Share) -> _Share:
        return _Share(cost=self.cost - other.cost, tokens=self.tokens - other.tokens)


@dataclass(kw_only=True)
class _Account:
    """One level of limits: the whole call, or one attempt."""

    limit_cost: float | None
    limit_tokens: int | None
    deadline: float
    prefix: str = ""
    spent: Spending = field(default_factory=Spending)
    reserved: _Share = field(default_factory=_Share)
    """For what is in flight."""
    in_flight: int = 0
    risked: _Share = field(default_factory=_Share)
    """On what broke off."""

    def over(self, needed: _Share) -> tuple[str, str] | None:
        """The limit, and what a person has to know of it, that this question would pass even if nothing else did."""
        cost, count = self.spent.cost + self.risked.cost, self.spent.tokens + self.risked.tokens
        if self.limit_cost is not None and cost + needed.cost > self.limit_cost:
            return (
                self.prefix + "cost",
                f"${cost:.4f} of ${self.limit_cost:.4f} is spent; another may be ${needed.cost:.4f}",
            )
        if self.limit_tokens is not None and count + needed.tokens > self.limit_tokens:
            return (
                self.prefix + "tokens",
                f"{count} of {self.limit_tokens} tokens are used; another may be {needed.tokens}",
            )
        return None

    def has_room(self, needed: _Share) -> bool:
        """Whether it fits beside all that is in flight, should each of those cost what is reserved for it."""
        share = self.reserved + self.risked + needed
        return (self.limit_cost is None or self.spent.cost + share.cost <= self.limit_cost) and (
            self.limit_tokens is None or self.spent.tokens + share.tokens <= self.limit_tokens
        )

    def reserve(self, share: _Share) -> None:
        self.reserved += share
        self.in_flight += 1

    def release(self, share: _Share) -> None:
        self.in_flight -= 1
        self.reserved = self.reserved - share if self.in_flight else _Share()  # sums of dollars do not cancel exactly


class Meter:
    """Counts what is spent over all threads of a call, and says when it is enough."""

    def __init__(
        self,
        *,
        endpoint: str,
        model: str,
        prices: Prices,
        limits: Limits,
        clock: Clock,
        earlier: Spending | None = None,
    ) -> None:
        self._endpoint, self._model = endpoint, model
        self._prices, self._limits, self._clock = prices, limits, clock
        self._changed = threading.Condition()
        self._longest_output = UNBOUNDED_OUTPUT
        self._fewest_bytes_per_token = tokens.FEWEST_BYTES_PER_TOKEN
        self._stopped = False
        self._total = _Account(
            limit_cost=limits.cost,
            limit_tokens=limits.tokens,
            deadline=_deadline(clock, limits.minutes),
            spent=earlier or Spending(),
        )

    @property
    def spent(self) -> Spending:
        """By now, earlier calls included."""
        with self._changed:
            return self._total.spent

    def attempt(self, model: Model) -> Metered:
        """The model for one attempt; its time begins now."""
        limits = self._limits
        account = _Account(
            limit_cost=limits.task_cost,
            limit_tokens=limits.task_tokens,
            deadline=_deadline(self._clock, limits.task_minutes),
            prefix="task_",
        )
        return Metered(model, self, account)

    def stop(self) -> None:
        """Let whoever waits for room give up."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def may_wait(self, account: _Account, seconds: float) -> None:
        """See that a wait of these seconds ends before any time limit does.

        Raises:
            LimitReachedError: it does not.

        """
        now = self._clock.monotonic()
        for account_asked in (account, self._total):
            if now + seconds >= account_asked.deadline:
                raise LimitReachedError(account_asked.prefix + "minutes", "the time is used up")

    def reserve(self, account: _Account, request: Request) -> _Share:
        """Wait for room and take it.

        Raises:
            LimitReachedError: there will be none.

        """
        with self._changed:
            while True:
                if self._stopped:
                    raise LimitReachedError("stopped", "the work was stopped")
                self.may_wait(account, 0.0)
                share = self._most(request)
                for account_asked in (account, self._total):
                    if passed := account_asked.over(share):
                        raise LimitReachedError(*passed)
                if account.has_room(share) and self._total.has_room(share):
                    account.reserve(share)
                    self._total.reserve(share)
                    return share
                left = min(account.deadline, self._total.deadline) - self._clock.monotonic()
                self._clock.wait(self._changed, None if left == math.inf else left)

    def settle(
        self, account: _Account, reserved: _Share, came_to: Spending, *, prompt_bytes: int, reported: bool
    ) -> None:
        """Give room back and count what a question really came to; `reported`: by the endpoint."""
        risked = self._share(tokens.at_most(prompt_bytes), 0) if came_to.broken else _Share()
        with self._changed:
            for account_asked in (account, self._total):
                account_asked.release(reserved)
                account_asked.risked += risked
                account_asked.spent += came_to
            self._longest_output = max(self._longest_output, came_to.output_tokens)
            if reported and prompt_bytes >= _ENOUGH_TO_TELL and came_to.input_tokens:
                bytes_per_token = prompt_bytes / came_to.input_tokens
                self._fewest_bytes_per_token = min(self._fewest_bytes_per_token, bytes_per_token)
            self._changed.notify_all()

    def count(self, account: _Account, more: Spending) -> None:
        """Count what needed no room."""
        with self._changed:
            account.spent += more
            self._total.spent += more

    def price(self, *models: str) -> Price | None:
        """Today's price of the first of these names that has one, else of the model as it was asked for."""
        return self._prices.find((*models, self._model), self._endpoint, self._clock.now().date())

    def _most(self, request: Request) -> _Share:
        read = math.ceil(tokens.request_bytes(request) / self._fewest_bytes_per_token)
        return self._share(read, request.sampling.max_output_tokens or self._longest_output)

    def _share(self, read: int, written: int) -> _Share:
        price = self.price()
        return _Share(cost=price.highest(read, written) if price else 0.0, tokens=read + written)


class Metered:
    """A model that is paid for from one attempt's account; a `Model`. Its replies know what they cost."""

    def __init__(self, model: Model, meter: Meter, account: _Account) -> None:
        self._model, self._meter, self._account = model, meter, account
        self.name = model.name

    def may_wait(self, seconds: float) -> None:
        """As `Meter.may_wait`."""
        self._meter.may_wait(self._account, seconds)

    def count(self, more: Spending) -> None:
        """Count what cost nothing: retries, answers from the cache."""
        self._meter.count(self._account, more)

    def ask(self, request: Request) -> Reply:
        """As `Model.ask`, within the limits."""
        size = tokens.request_bytes(request)
        reserved = self._meter.reserve(self._account, request)
        came_to, is_settled = Spending(), False
        try:
            reply = self._model.ask(request)
            is_settled = believable(reply, size)
            price = self._meter.price(reply.model)
            reply = replace(reply, cost=price.cost(reply.usage) if price and is_settled else None)
            came_to = _reported(reply, price) if is_settled else _estimated(reply, size, price)
        except ModelError as error:
            if error.fault in {Fault.BAD_REPLY, Fault.NETWORK}:
                came_to = Spending(broken=1)
            raise
        finally:
            self._meter.settle(self._account, reserved, came_to, prompt_bytes=size, reported=is_settled)
        return reply


def believable(reply: Reply, prompt_bytes: int) -> bool:
    """Whether the tokens that an endpoint tells can be right: complete, consistent, and fitting the text.

    A byte is the least that a token stands for, so a prompt has no more tokens than bytes (and a few that a chat's
    template adds); and nothing that was written came to no token at all.
    """
    usage: Usage = reply.usage
    read, written, cached = usage.input_tokens, usage.output_tokens, usage.cached_input_tokens or 0
    if read is None or written is None or ODD.intersection(reply.notes):
        return False
    fewest, most = prompt_bytes / _MOST_BYTES_PER_TOKEN, prompt_bytes + 1000
    return (
        fewest <= read <= most
        and 0 <= cached <= read
        and 0 <= written <= _MOST_OUTPUT
        and (written > 0 or not tokens.reply_bytes(reply))
    )


def _reported(reply: Reply, price: Price | None) -> Spending:
    return Spending(
        cost=reply.cost or 0.0,
        unpriced=int(price is None),
        input_tokens=reply.usage.input_tokens or 0,
        output_tokens=reply.usage.output_tokens or 0,
        questions=1,
    )


def _estimated(reply: Reply, prompt_bytes: int, price: Price | None) -> Spending:
    """Counted high, and not below what was reported: a limit must hold even where usage is unknown."""
    usage = reply.usage
    read = max(tokens.at_most(prompt_bytes), min(usage.input_tokens or 0, prompt_bytes + 1000))
    written = max(tokens.at_most(tokens.reply_bytes(reply)), min(usage.output_tokens or 0, _MOST_OUTPUT))
    return Spending(
        cost=price.highest(read, written) if price else 0.0,
        unpriced=int(price is None),
        estimated=1,
        input_tokens=read,
        output_tokens=written,
        questions=1,
    )


def _deadline(clock: Clock, minutes: float | None) -> float:
    return math.inf if minutes is None else clock.monotonic() + 60.0 * minutes
