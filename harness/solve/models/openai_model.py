"""A model behind any endpoint that speaks OpenAI's API: Chat Completions or Responses, always streamed.

Streaming gives the time to the first token, and a long answer does not look like a dead connection. Retries are not
made here (`max_retries=0`): `harness/solve/models/retry.py` decides what is worth asking again.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from json import JSONDecodeError
from typing import Self
from urllib.parse import urlsplit

import openai

from harness.core.errors import InputError
from harness.core.wording import first_of
from harness.solve.base import Fault, ModelError, Reply, Request
from harness.solve.models import chat_api, responses_api
from harness.solve.models.endpoint import Api, Endpoint, floating_warning
from harness.solve.models.masking import Masker
from harness.solve.models.retry import retry_after_seconds

_SHOWN_MODELS = 8
_SHOWN_CHARACTERS = 500


class OpenAIModel:
    """A `Model`; a context manager, since it holds connections."""

    def __init__(self, name: str, endpoint: Endpoint, *, environment: Mapping[str, str]) -> None:
        """Look for the key in `environment`.

        Raises:
            InputError: the URL is none, or there is no key and the endpoint is not a local one.

        """
        self.name = name
        self.endpoint = endpoint
        key = _key(endpoint, environment)
        self._mask = Masker({endpoint.api_key_env: key} if key else {})
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=openai.Timeout(endpoint.timeout, connect=min(30.0, endpoint.timeout)),
            # A prompt goes to the endpoint that the user named and to no other, wherever that one points. Certificates
            # take a tenth of a second to load, and http:// has none.
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False, verify=urlsplit(endpoint.base_url).scheme != "http"
            ),
        )
        self.api = endpoint.api
        """The API in use; `auto` until the first answer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def warnings(self) -> tuple[str, ...]:
        """What the user should know before the first question."""
        parts = urlsplit(self.endpoint.base_url)
        warnings = [floating_warning(self.name, parts.hostname or "")]
        if parts.scheme == "http" and not self.endpoint.is_local:
            warnings.append(
                f"{self.endpoint.host} is spoken to without encryption: key and code can be read on the way"
            )
        return tuple(text for text in warnings if text)

    def ask(self, request: Request) -> Reply:
        """As `Model.ask`. With `auto`, the first endpoint's answer that is no 404 settles which API is spoken.

        A request with a seed is asked by Chat Completions, since Responses knows none; so is one with further settings
        in its words.
        """
        api = self.api
        if api is Api.AUTO and request.sampling.seed is not None:
            api = Api.CHAT
        if request.extra:
            if self.endpoint.api is Api.RESPONSES:
                names = ", ".join(sorted(request.extra))
                raise self._error(
                    f"the Responses API cannot be asked with {names}", Fault.BAD_REQUEST, hint="give --api chat or auto"
                )
            api = Api.CHAT
        if api is not Api.AUTO:
            return self._ask(api, request)
        first, second = self.endpoint.preferred
        try:
            reply = self._ask(first, request)
        except _MissingApiError:
            reply = self._ask(second, request)
            self.api = second
        else:
            self.api = first
        return reply

    def _ask(self, api: Api, request: Request) -> Reply:
        ask_model: Callable[..., Reply] = chat_api.ask if api is Api.CHAT else responses_api.ask
        started = time.monotonic()
        try:
            return ask_model(self._client, self.name, request, official=self.endpoint.is_official)
        except ModelError:
            raise
        except JSONDecodeError as error:
            raise self._error("the endpoint sent something that is not JSON", Fault.BAD_REPLY) from error
        except openai.APITimeoutError as error:
            waited = time.monotonic() - started
            fault = Fault.UNREACHABLE if _is_unconnected(error) else Fault.NETWORK
            raise self._error(f"{self.endpoint.host} said nothing for {waited:.0f} s", fault) from error
        except openai.APIConnectionError as error:
            unconnected = _is_unconnected(error)
            raise self._error(
                f"{self.endpoint.host} {'cannot be reached' if unconnected else 'broke off'}:"
                f" {error.__cause__ or error}",
                Fault.UNREACHABLE if unconnected else Fault.NETWORK,
                hint="is the server running, and --base-url right?",
            ) from error
        except openai.APIError as error:
            raise self._refused(error, api) from error

    def _refused(self, error: openai.APIError, api: Api) -> ModelError:
        if is_missing_api(error):
            text = f"{self.endpoint.host} has no {'Chat Completions' if api is Api.CHAT else 'Responses'} API"
            where = f"check --base-url (now {_without_secret(self.endpoint.base_url)}), or give another --api"
            return _MissingApiError(self._mask.text(text), fault=Fault.BAD_REQUEST, hint=self._mask.text(where))
        fault, hint = fault_of(error)
        if error.code == "model_not_found":
            hint = self._offered()
        elif fault is Fault.AUTH and hint is None:
            hint = f"is the key in {self.endpoint.api_key_env} right for {self.endpoint.host}?"
        response = getattr(error, "response", None)
        wait = retry_after_seconds(response.headers, datetime.now(UTC)) if response is not None else None
        status = f" ({error.status_code})" if isinstance(error, openai.APIStatusError) else ""
        # the request is never in an error text: it holds the customer's code
        text = f"{self.endpoint.host} refused{status}: {_words(error)}"
        return self._error(text, fault, retry_after=wait, hint=hint)

    def _error(
        self, text: str, fault: Fault, *, retry_after: float | None = None, hint: str | None = None
    ) -> ModelError:
        visible = self._mask.text(text)[:_SHOWN_CHARACTERS]
        return ModelError(visible, fault=fault, retry_after=retry_after, hint=self._mask.text(hint) if hint else None)

    def _offered(self) -> str:
        """A hint that names what the endpoint has."""
        names: list[str] = []
        with contextlib.suppress(openai.OpenAIError, JSONDecodeError, TypeError, AttributeError):
            names = sorted(str(model.id) for model in self._client.models.list())
        if not names:
            return "give with --model a name that the endpoint knows"
        return f"the endpoint has {first_of(names, _SHOWN_MODELS)}"


class _MissingApiError(ModelError):
    """The endpoint does not have this API at all."""


def _words(error: openai.APIError) -> str:
    """What the endpoint said, on one line; a page of HTML is named, not shown."""
    body = error.body
    text = body.get("message") if isinstance(body, dict) else None
    words = " ".join(str(text or error.message or type(error).__name__).split())
    return "a page of HTML, as proxies send" if words.lower().startswith(("<html", "<!doctype")) else words


def _without_secret(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f"{parts.netloc}", parts.netloc.rpartition("@")[2], 1)


def _key(endpoint: Endpoint, environment: Mapping[str, str]) -> str | None:
    parts = urlsplit(endpoint.base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            f"the base URL is no URL: {_without_secret(endpoint.base_url)}",
            hint="write it like https://host/v1 or http://localhost:11434/v1",
        )
    if parts.username or parts.password:
        raise InputError(
            "the base URL holds a user name or password", hint="put the key into a variable, and name that"
        )
    key = environment.get(endpoint.api_key_env, "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError(f"the key in {endpoint.api_key_env} has characters that no key has", hint="set it again")
    if not key and not endpoint.is_local:
        raise InputError(
            f"there is no key for {endpoint.host}: {endpoint.api_key_env} is not set",
            hint="set it, or name another variable with --api-key-env",
        )
    return key or None


def _is_unconnected(error: openai.APIConnectionError) -> bool:
    """Whether no connection came about, by the error of httpx, or of httpx2 where openai 3 stands on that."""
    return type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout"}


_TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens|input is too long"
    r"|exceeds? the (?:model'?s )?(?:maximum|available context|limit of \d+ tokens)"
    r"|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
"""How OpenAI, Anthropic, Google, vLLM, llama.cpp and LM Studio say that a prompt does not fit."""
_NOT_SUPPORTED = re.compile(r"unsupported|not supported|does not support|unrecognized|unknown", re.IGNORECASE)
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_STREAM_CODES = {"rate_limit_exceeded": Fault.RATE_LIMIT, "server_error": Fault.SERVER, "overloaded": Fault.SERVER}
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501
_REQUEST_TIMEOUT, _CONFLICT, _TOO_MANY, _SERVER = 408, 409, 429, 500


def fault_of(error: openai.APIError) -> tuple[Fault, str | None]:
    """The fault and, where there is something to do about it, what."""
    code = str(getattr(error, "code", None) or "")
    text = f"{error.message} {error.body if isinstance(error.body, str) else ''}"
    if code in _QUOTA:
        return Fault.AUTH, "the account has no credit left: asking again would not help"
    if code == "context_length_exceeded" or (_status(error) in (400, 413, 422, None) and _TOO_LONG.search(text)):
        return Fault.CONTEXT_OVERFLOW, None
    status = _status(error)
    if status is None:  # an error in the middle of a stream: only its code tells
        return _STREAM_CODES.get(code, Fault.SERVER), None
    if status in (401, 403):
        return Fault.AUTH, None
    if status == _TOO_MANY:
        return Fault.RATE_LIMIT, None
    if status in (_REQUEST_TIMEOUT, _CONFLICT) or status >= _SERVER:
        return Fault.SERVER, None
    if _NOT_SUPPORTED.search(text) and re.search(r"temperature|top_p|seed|tools|max_", text):
        return Fault.BAD_REQUEST, "this model does not take that setting: leave it out"
    return Fault.BAD_REQUEST, None


def is_missing_api(error: openai.APIError) -> bool:
    """Whether the endpoint does not have the API at all, as opposed to not having the model."""
    status = _status(error)
    if status in (_NOT_ALLOWED, _NOT_IMPLEMENTED):
        return True
    if status != _NOT_FOUND:
        return False
    code = str(getattr(error, "code", None) or "")
    return code != "model_not_found" and "model" not in error.message.lower()


def _status(error: openai.APIError) -> int | None:
    return error.status_code if isinstance(error, openai.APIStatusError) else None
