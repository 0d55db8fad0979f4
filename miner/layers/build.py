"""Build a layer once: look it up, else run its commands and commit the result under a tag made from its key."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.config.settings import ImageSettings
from harness.core import files
from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from miner.layers import reasons
from miner.layers.layer import CACHE_DIR, FACTS_PATH, Layer
from miner.layers.runner import Ran, Workshop, read_result

LABEL_FACTS = "dev.goldseam.facts"
_ROOM = 64 * 1024 * 1024


class StepFailedError(Exception):
    """A layer's commands failed, which is the repository's fault as far as is known."""

    def __init__(self, layer: str, ran: Ran, settings: ImageSettings) -> None:
        super().__init__(f"{layer} ended with {ran.exit_code}")
        self.kind = layer
        self.ran = ran
        resolving = layer == "resolve"
        self.reason, why = (reasons.of_resolving if resolving else reasons.of)(ran, settings)
        """The stable word for the funnel."""
        self.detail = reasons.detail(why, ran)


@dataclass(frozen=True, kw_only=True)
class BuiltLayer:
    """A layer that the engine holds."""

    kind: str
    image_id: str
    tag: str
    seconds: float
    """Wall time of building it; 0 if it was there."""
    reused: bool
    size: int
    """Bytes that this layer adds to its parent."""
    facts: dict[str, Any]
    platform: str = ""
    """`os/architecture[/variant]`."""


def ensure(workshop: Workshop, layer: Layer) -> BuiltLayer:
    """The image of a layer, built unless the engine holds it already.

    However many threads and processes ask for the same layer, it is built once.

    Raises:
        StepFailedError: its commands failed.
        InfrastructureError: the engine, the network or the disk failed.

    """
    built_layer = _lookup(layer)
    if built_layer:
        return built_layer
    with files.locked_in_turn(workshop.settings.cache_dir / "locks" / f"{layer.key[:32]}.lock"):
        return _lookup(layer) or _pulled(workshop, layer) or _build(workshop, layer)


def _lookup(layer: Layer) -> BuiltLayer | None:
    facts = engine.inspect_image(layer.tag)
    if facts is None or facts.labels.get(engine.LABEL_KEY) != layer.key:
        return None
    return _built(layer, facts, seconds=0.0, reused=True)


def _pulled(workshop: Workshop, layer: Layer) -> BuiltLayer | None:
    """The layer as another engine built it."""
    if workshop.shelf is None or not workshop.shelf.take(layer.tag, layer.key):
        return None
    return _lookup(layer)


def _built(layer: Layer, image: engine.ImageFacts, *, seconds: float, reused: bool) -> BuiltLayer:
    parent = engine.inspect_image(layer.parent)
    return BuiltLayer(
        kind=layer.kind,
        image_id=image.id,
        tag=layer.tag,
        seconds=seconds,
        reused=reused,
        size=image.size - (parent.size if parent else 0),
        facts=read_facts(image.labels.get(LABEL_FACTS) or "{}"),
        platform=image.platform,
    )


def _build(workshop: Workshop, layer: Layer, *, again: bool = True) -> BuiltLayer:
    workshop.progress(f"building {layer.kind}")
    began = time.monotonic()
    with workshop.run(
        layer.parent,
        layer.script(),
        kind=layer.kind,
        inputs=layer.inputs,
        folders=layer.folders,
        needs_root=layer.needs_root,
        foreign=layer.foreign,
    ) as ran:
        if not ran.ok:
            raise_if_infrastructure(workshop, layer.parent, ran)
            if not again or not misses_network(ran):
                raise StepFailedError(layer.kind, ran, workshop.settings)
        else:
            facts = json.loads(read_result(ran.out / Path(FACTS_PATH).name))
            # other engines, and processes with other cache folders, share no locks: the first to finish names the layer
            if theirs := _lookup(layer) or _pulled(workshop, layer):
                return theirs
            _commit(layer, ran.container, facts)
    if not ran.ok:
        return _build(workshop, layer, again=False)
    image = engine.inspect_image(layer.tag)
    if image is None:
        raise InfrastructureError(f"the engine lost {layer.tag} right after it was built")
    return _built(layer, image, seconds=time.monotonic() - began, reused=False)


def _commit(layer: Layer, container: str, facts: dict[str, Any]) -> None:
    labels = {
        **layer.labels,
        engine.LABEL_KIND: layer.kind,
        engine.LABEL_KEY: layer.key,
        LABEL_FACTS: base64.b64encode(json.dumps(facts, sort_keys=True).encode()).decode(),
        engine.LABEL_OWNER: "",  # the build container's own label would make runs of the image look left over
    }
    changes = [f"LABEL {name}={_value(value)}" for name, value in labels.items()]
    changes += [f"ENV {name}={_value(value)}" for name, value in layer.env.items()]
    changes += [f"WORKDIR {layer.workdir}", 'CMD ["/bin/bash"]', "USER root"]
    repository, _, tag = layer.tag.partition(":")
    with engine.calling(f"committing {layer.tag}") as client:
        client.commit(container, repository, tag, message=f"goldseam {layer.kind}", changes=changes)


def read_facts(label: str) -> dict[str, Any]:
    """Facts as a label holds them: base64, since Podman keeps the quotes' escapes; images of before hold plain JSON."""
    text = label if label.startswith("{") else base64.b64decode(label)
    facts: dict[str, Any] = json.loads(text)
    return facts


def _value(text: str) -> str:
    """A value as the engine's Dockerfile parser reads it: quoted, no variable expanded."""
    return json.dumps(text).replace("$", "\\$")


def misses_network(ran: Ran) -> bool:
    """Whether a failed step tells of a network. Where the index answers again, one more try tells whose fault it is."""
    return not ran.refused and reasons.looks_like_network(ran)


def raise_if_infrastructure(workshop: Workshop, image: str, ran: Ran) -> None:
    """Tell a failing machine or network from a failing repository.

    Output that looks like a network failure is not enough: a repository's own build may try to download something.
    So the index is asked for something known; only if that fails too it was the network. The same with the disk: a
    build may fill what is its own, and then there is room again.

    Raises:
        InfrastructureError: the disk is full, or the package index can't be reached.

    """
    if reasons.is_full(ran.tail) and not ran.disk_full and not _has_room(workshop, image):
        raise InfrastructureError("no space left on the disk of the container engine", hint="run `goldseam images gc`")
    if not reasons.looks_like_network(ran):
        return
    probe = "export PATH=/opt/goldseam/uv/bin:$PATH\necho pip | uv pip compile --no-cache --no-header -q -\n"
    with workshop.run(image, probe, kind="probe", foreign=True) as answer:
        if answer.ok:
            return
    raise InfrastructureError(
        f"the package index can't be reached from a build: {reasons.network_line(ran.tail)}",
        hint="check PIP_INDEX_URL or UV_DEFAULT_INDEX, the proxy variables and SSL_CERT_FILE",
    )


def _has_room(workshop: Workshop, image: str) -> bool:
    """Whether an empty container can write a file of some size, beside the failed build that has not gone yet."""
    script = f"for path in /goldseam {CACHE_DIR}/goldseam; do head -c {_ROOM} /dev/zero >$path; rm $path; done\n"
    try:
        with workshop.run(image, f"set -e\n{script}", kind="probe") as answer:
            return answer.ok
    except InfrastructureError:
        return False
