"""Which node of a cluster a job should go to: one that holds its image and has a place free. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Node:
    """A node as the driver knows it."""

    slots: float
    """Containers that it takes at once: its `docker` resource."""
    images: set[str] = field(default_factory=set)
    engine: str = ""
    """What its engine is known by; nodes of one machine may share one. Empty where it is not known."""
    running: int = 0
    """Jobs of this run that were sent there and are not back."""
    sick_until: float = 0.0
    """Until when nothing is sent there by choice, in seconds of a clock that the caller has."""

    @property
    def free(self) -> float:
        return self.slots - self.running


class Placement:
    """What the driver knows of the nodes; the cluster has the last word."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def see(self, node_id: str, *, slots: float, images: Collection[str] = ()) -> None:
        """A node that is there."""
        node = self.nodes.setdefault(node_id, Node(slots=slots))
        node.slots = slots
        node.images |= set(images)

    def holds(self, node_id: str, image: str) -> None:
        """A node holds an image, and so do those that share its engine."""
        holder = self.nodes.get(node_id)
        if holder is None or not image:
            return
        for node in self.nodes.values():
            if node is holder or (holder.engine and node.engine == holder.engine):
                node.images.add(image)

    def engines(self) -> int:
        """How many engines there are, as far as is known."""
        return len({node.engine or node_id for node_id, node in self.nodes.items()})

    def keep_only(self, node_ids: Collection[str]) -> None:
        """Forget nodes that are no more."""
        self.nodes = {node_id: node for node_id, node in self.nodes.items() if node_id in node_ids}

    def choose(self, image: str, *, now: float = 0.0, avoid: Collection[str] = ()) -> str | None:
        """The node for a job: of those with a place free one that holds the image, of these the emptiest.

        None where no place is free, or where any node does: the cluster's own scheduler decides then. An image that is
        in no registry (no `@` in its name) has to be where it is, so its nodes are taken even when they are full.
        """
        well = {
            node_id: node
            for node_id, node in self.nodes.items()
            if now >= node.sick_until and node_id not in avoid and node.slots > 0
        }
        holding = {node_id: node for node_id, node in well.items() if image in node.images}
        bound = "@" not in image
        free = [node_id for node_id, node in holding.items() if node.free > 0 or bound]
        if not free and (avoid or len(well) < len(self.nodes)):
            free = [node_id for node_id, node in well.items() if node.free > 0]
        return max(free, key=lambda node_id: (well[node_id].free, node_id), default=None)
