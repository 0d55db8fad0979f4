"""A registry that is away is waited for, one span of time for all of its images; what it says of an image holds."""

from __future__ import annotations

import threading

import pytest

from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine
from harness.sandbox.images import pulls
from harness.sandbox.job import MissingImageError

DIGEST = "@sha256:" + "1" * 64
ONE, TWO = f"registry.example/one{DIGEST}", f"registry.example/two{DIGEST}"
REFUSED = 'Get "https://registry.example/v2/": dial tcp 192.0.2.1:443: connect: connection refused'


class Engine:
    """Stands in the place of `registries.fetch`: fails with these errors first, and then brings the image."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.asked = []

    def __call__(self, ref, **_):
        self.asked.append(ref)
        if self.errors:
            raise self.errors.pop(0)
        yield {"status": "Status: Downloaded newer image"}


@pytest.fixture
def fetching(monkeypatch):
    """A puller with this patience, before an engine that fails so."""
    notes = []

    def prepared(*errors, patience=5.0):
        fake = Engine(*errors)
        monkeypatch.setattr(pulls, "fetch", fake)
        monkeypatch.setattr(pulls, "_FIRST_PAUSE", 0.001)
        monkeypatch.setattr(pulls, "_POLL_SECONDS", 0.001)
        return fake, pulls.Puller(notes.append, patience=patience), notes

    return prepared


def test_a_registry_that_comes_back_is_asked_until_it_does_and_that_is_told_once(fetching):
    fake, puller, notes = fetching(engine.EngineError(REFUSED), engine.EngineError("unexpected EOF"))
    puller.fetch(ONE, cancelled=threading.Event())
    assert fake.asked == [ONE] * 3
    assert [note.split(" in ")[0] for note in notes] == [
        f"fetching {ONE}",
        f"registry.example does not answer; trying again for up to 5 s: {REFUSED}",
        f"fetched {ONE}",
    ]


def test_a_registry_that_stays_away_is_waited_for_once_and_not_once_for_each_image(fetching):
    fake, puller, notes = fetching(*[engine.EngineError(REFUSED)] * 10_000, patience=0.05)
    with pytest.raises(MissingImageError, match="connection refused"):
        puller.fetch(ONE, cancelled=threading.Event())
    assert len(fake.asked) > 2
    fake.asked.clear()
    with pytest.raises(MissingImageError, match="connection refused"):
        puller.fetch(TWO, cancelled=threading.Event())
    assert fake.asked == [TWO]
    assert sum("does not answer" in note for note in notes) == 1


@pytest.mark.parametrize(
    "why",
    [
        "manifest for registry.example/one not found: manifest unknown",
        "unauthorized: authentication required",
        "pull access denied, repository does not exist or may require 'docker login'",
        "write /data/tmp: no space left on device: timeout",
        "x509: certificate signed by unknown authority",
        "manifest verification failed for digest sha256:11",
    ],
)
def test_what_a_registry_or_a_disk_says_of_an_image_holds_at_once(why, fetching):
    fake, puller, notes = fetching(engine.EngineError(why))
    with pytest.raises(MissingImageError):
        puller.fetch(ONE, cancelled=threading.Event())
    assert fake.asked == [ONE]
    assert notes == [f"fetching {ONE}"]


@pytest.mark.parametrize(
    "why",
    [
        REFUSED,
        'Get "https://registry.example/v2/": EOF',
        'Get "http://registry.example/v2/": http: server closed idle connection',
        "net/http: TLS handshake timeout",
        "dial tcp: lookup registry.example: no such host",
        "received unexpected HTTP status: 503 Service Unavailable",
        "toomanyrequests: too many requests",
    ],
)
def test_what_says_that_the_registry_was_not_reached_passes(why):
    assert pulls.is_passing(why)


@pytest.mark.parametrize("lost", [OSError("no such socket"), engine.EngineError("context canceled")])
def test_an_engine_that_goes_away_meanwhile_says_nothing_of_the_image(lost, fetching):
    _, puller, _ = fetching(lost)
    with pytest.raises(InfrastructureError) as caught:
        puller.fetch(ONE, cancelled=threading.Event())
    assert not isinstance(caught.value, MissingImageError)
    puller.fetch(ONE, cancelled=threading.Event())


def test_whoever_is_interrupted_does_not_wait_for_a_registry(fetching):
    _, puller, _ = fetching(*[engine.EngineError(REFUSED)] * 10_000, patience=600.0)
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(InterruptedRunError):
        puller.fetch(ONE, cancelled=cancelled)
