"""From the words of the command line to repositories."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from harness.core.errors import InputError
from miner.sources.address import Filter, address_of
from miner.sources.github_auth import find_credential, host_of
from miner.sources.origin import GitOrigin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from harness.config.settings import GithubSettings
    from miner.sources.github_client import Gateway
    from miner.sources.history import ChangeFilter
    from miner.sources.origin import Origin

_AHEAD = 2
"""Repositories made ready while another one is mined."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class Expander:
    """Knows one GitHub, and asks it only when a source names something on it."""

    def __init__(
        self,
        settings: GithubSettings,
        *,
        cache: Path,
        chosen: Filter | None = None,
        called: str | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._cache = cache
        self._chosen = chosen or Filter()
        self._called = called
        self._note = note
        self._gateway: Gateway | None = None

    def origins(self, source: str, change_filter: ChangeFilter) -> list[Origin]:
        """The repositories that a source names, in the order to mine them.

        Raises:
            InputError: single changes are asked of several repositories, or nobody to ask GitHub as.
            GithubError: GitHub can't be asked.

        """
        host = host_of(self._settings.api_url)
        address = address_of(source, host)
        if address is None:
            return [GitOrigin(source=source, cache=self._cache, called=self._called)]
        if address.name is None and change_filter.picks:
            raise InputError(
                f"--pr and --commit pick from one repository, and {source} may have many",
                hint=f"name it: {source}/REPOSITORY",
            )
        from miner.sources.github import origins_of  # noqa: PLC0415 - PyGithub is slow to load
        from miner.sources.github_client import Gateway  # noqa: PLC0415

        if self._gateway is None:
            credential = find_credential(host, self._settings)
            waits = self._settings.max_wait_seconds
            self._gateway = Gateway(host, credential, max_wait=waits, note=self._note)
        size = self._settings.page_size
        origins = origins_of(address, self._gateway, self._chosen, cache=self._cache, page_size=size)
        return list(origins)


def ahead(items: Iterable[Item], work: Callable[[Item], Result]) -> Iterator[tuple[Item, Callable[[], Result]]]:
    """Each item with a way to its result, which is worked out on another thread while earlier items are used."""
    with ThreadPoolExecutor(max_workers=_AHEAD, thread_name_prefix="goldseam-source") as pool:
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        source = iter(items)
        try:
            while True:
                while len(waiting) <= _AHEAD and (item := next(source, None)) is not None:
                    waiting.append((item, pool.submit(work, item)))
                if not waiting:
                    return
                first, future = waiting.popleft()
                yield first, future.result
        finally:
            for _, future in waiting:
                future.cancel()
