"""Headless Chromium, driven by its own DevTools protocol over a pair of pipes: no port, no driver, no package.

The protocol: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess  # noqa: TID251 - a program to talk to while it runs
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import IO, Any, Self

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
_PATIENCE = 240.0
"""Seconds after which a browser that says nothing is given up."""
_KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), " ": (32, " ")}
_KEYS |= {name: (code, "") for code, name in enumerate(("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"), start=37)}


def installed() -> str | None:
    """The path of a browser of this machine."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


class Browser:
    """A browser with a fresh profile; gone, with all its pages, when the block ends."""

    def __init__(self, program: str) -> None:
        self._program = program

    def __enter__(self) -> Self:
        self._scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # The protocol's descriptors are 3 and 4; the shell puts our two pipes there.
        words = ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null', "sh", self._program, *_OPTIONS]
        self._child = subprocess.Popen(
            [*words, f"--user-data-dir={self._scratch.name}", "about:blank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._scratch.name},
            start_new_session=True,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._to: IO[bytes] = self._child.stdin
        self._from: IO[bytes] = self._child.stdout
        self._rest = b""
        self._last = 0
        self._events: dict[str, deque[dict[str, Any]]] = {}
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.ask("Browser.close")
            self._child.wait(_PATIENCE)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self._child.kill()
            self._child.wait()
        self._to.close()
        self._from.close()
        self._scratch.cleanup()

    def page(self, *, width: int = 1280, height: int = 900, dark: bool = False, **media: str) -> Page:
        """A new, empty page; `media` are further media features, such as `prefers_contrast`."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        features += [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        page.ask("Emulation.setEmulatedMedia", features=features)
        return page

    def ask(self, method: str, *, session: str | None = None, **params: Any) -> dict[str, Any]:
        """One call of the protocol; its result."""
        self._last += 1
        question: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if session:
            question["sessionId"] = session
        self._to.write(json.dumps(question).encode() + b"\0")
        self._to.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._keep(answer)

    def event(self, session: str, name: str) -> dict[str, Any]:
        """The next event of that name; waits for it."""
        while not (waiting := self._events.get(session + name)):
            self._keep(self._read())
        return waiting.popleft()

    def events(self, session: str, name: str) -> list[dict[str, Any]]:
        """All events of that name that came so far."""
        self.ask("Browser.getVersion")  # what happened before the answer has been told before it
        return list(self._events.get(session + name, ()))

    def _keep(self, message: dict[str, Any]) -> None:
        if "method" in message:
            key = message.get("sessionId", "") + message["method"]
            self._events.setdefault(key, deque()).append(message.get("params", {}))

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        parts = [self._rest]
        while b"\0" not in parts[-1]:
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"the browser said nothing for {_PATIENCE:g} s"
            part = os.read(self._from.fileno(), 1 << 20)
            assert part, "the browser has gone"
            parts.append(part)
        message, _, self._rest = b"".join(parts).partition(b"\0")
        return json.loads(message)


class Page:
    """One tab."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self) -> None:
        self._browser.ask("Target.closeTarget", targetId=self._target)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.ask(method, session=self._session, **params)

    def open(self, file: Path, fragment: str = "") -> Self:
        """Load a file and wait until it is loaded."""
        return self.visit(file.as_uri() + fragment)

    def visit(self, address: str) -> Self:
        """Load an address and wait until it is loaded."""
        self.ask("Page.navigate", url="about:blank")  # else a change of the fragment alone would load nothing
        self._browser.event(self._session, "Page.loadEventFired")
        self.ask("Page.navigate", url=address)
        self._browser.event(self._session, "Page.loadEventFired")
        return self

    def leave(self, script: str) -> None:
        """Run what leads to another page, and wait until that is loaded."""
        self.run(f"setTimeout(() => {{ {script} }}); 0")
        self._browser.event(self._session, "Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression; a promise is waited for. The page's own policy does not bind it."""
        done = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"].get("exception", done).get("description", done)
        return done["result"].get("value")

    def text(self, selector: str) -> str:
        """What a person reads there, once it is drawn: what is far from the window has no text before that."""
        self.settle()
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def texts(self, selector: str) -> list[str]:
        """What a person reads in each, once it is drawn; nothing of what is hidden."""
        self.settle()
        script = f"[...document.querySelectorAll({json.dumps(selector)})].filter(e => e.checkVisibility())"
        return self.run(f"{script}.map(e => e.innerText)")

    def press(self, key: str) -> None:
        """A key of the keyboard, down and up."""
        code, text = _KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key if len(key) == 1 else ""))
        stroke = {"key": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **stroke)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **stroke)

    def type(self, text: str) -> None:
        """Text into whatever has the focus, a key at a time."""
        for character in text:
            self.press(character)

    def settle(self) -> None:
        """Wait until the page has drawn what it was asked for: two frames, and what it does when idle."""
        self.run(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(done))))"
        )

    def until(self, condition: str) -> None:
        """Wait until an expression holds."""
        look = f"const look = () => ({condition}) ? done(0) : requestAnimationFrame(look)"
        self.run(f"new Promise(done => {{ {look}; look(); }})")

    def choose(self, selector: str, value: str) -> None:
        """Another value for a list of choices."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(
            f"{element}.value = {json.dumps(value)}; {element}.dispatchEvent(new Event('change', {{bubbles: true}}))"
        )

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """The page as PNG."""
        made = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(made["data"]))

    def printed(self) -> bytes:
        """The page as PDF, as it would be printed on A4."""
        made = self.ask("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(made["data"])

    def troubles(self) -> list[str]:
        """Errors and warnings of the page so far, what its policy refused included."""
        thrown = self._browser.events(self._session, "Runtime.exceptionThrown")
        logged = self._browser.events(self._session, "Log.entryAdded")
        return [str(one["exceptionDetails"]) for one in thrown] + [str(one["entry"]["text"]) for one in logged]

    def asked_for(self) -> list[str]:
        """Every address that was asked for so far."""
        sent = self._browser.events(self._session, "Network.requestWillBeSent")
        return [one["request"]["url"] for one in sent if one["request"]["url"] != "about:blank"]
