"""Runs inside a build that has no network: a proxy on the loopback whose far end is the program that started the build.

What connects here is carried as numbered streams over standard input and output of this program; who may be reached is
decided at the other end (miner/layers/relay.py, which has the form of the messages). Names are asked for here in vain,
and told there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
import sys
from typing import Any

HEAD = struct.Struct(">IBH")
OPEN, DATA, END, ROOM, NAME = range(5)
WINDOW = 1 << 20
PIECE = 1 << 15
HOME = "127.0.0.1"


class Stream:
    """One connection of a program of the build."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self.room = WINDOW
        self.more = asyncio.Event()


class Relay:
    """All connections, over one pipe each way."""

    def __init__(self, out: asyncio.StreamWriter) -> None:
        self.streams: dict[int, Stream] = {}
        self.last = 0
        self.out = out

    async def say(self, number: int, kind: int, payload: bytes = b"") -> None:
        """Send one message to the other end."""
        self.out.write(HEAD.pack(number, kind, len(payload)) + payload)
        await self.out.drain()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until both sides have said all."""
        self.last += 1
        number = self.last
        stream = self.streams[number] = Stream(writer)
        await self.say(number, OPEN)
        down = asyncio.ensure_future(self.down(number, stream))
        with contextlib.suppress(OSError):
            while data := await reader.read(PIECE):
                while stream.room < len(data):
                    stream.more.clear()
                    await stream.more.wait()
                stream.room -= len(data)
                await self.say(number, DATA, data)
        await self.say(number, END)
        await down
        del self.streams[number]
        writer.close()

    async def down(self, number: int, stream: Stream) -> None:
        """Hand on what comes from afar; whoever does not listen any more gets none of it."""
        while data := await stream.pieces.get():
            with contextlib.suppress(OSError):
                stream.writer.write(data)
                await stream.writer.drain()
            await self.say(number, ROOM, len(data).to_bytes(4, "big"))
        with contextlib.suppress(OSError):
            stream.writer.close()

    async def listen(self, wire: asyncio.StreamReader) -> None:
        """Take what the other end says."""
        while True:
            number, kind, size = HEAD.unpack(await wire.readexactly(HEAD.size))
            payload = await wire.readexactly(size)
            stream = self.streams.get(number)
            if stream is None:
                continue
            if kind == ROOM:
                stream.room += int.from_bytes(payload, "big")
                stream.more.set()
            else:
                stream.pieces.put_nowait(payload if kind == DATA else b"")


class Names(asyncio.DatagramProtocol):
    """Answers questions for the addresses of hosts."""

    def __init__(self, out: asyncio.StreamWriter) -> None:
        self.out = out

    def connection_made(self, transport: Any) -> None:
        """Begin to answer."""
        self.wire = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Say of every name that it isn't there (RFC 1035, 4.1), and tell that it was asked for."""
        labels, at = [], 12
        while at < len(data) and data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]])
            at += 1 + data[at]
        question = data[12 : at + 5]
        self.wire.sendto(data[:2] + b"\x81\x83\x00\x01\x00\x00\x00\x00\x00\x00" + question, address)
        name = b".".join(labels)[:255]
        self.out.write(HEAD.pack(0, NAME, len(name)) + name)


async def main(port: int) -> None:
    """Be a proxy on this port; standard error is closed once that is so."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(1, "wb", 0))
    relay = Relay(asyncio.StreamWriter(transport, protocol, None, loop))
    wire = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(wire), os.fdopen(0, "rb", 0))
    server = await asyncio.start_server(relay.accept, HOME, port)
    with contextlib.suppress(OSError):  # some engines keep this port from programs without a capability for it
        await loop.create_datagram_endpoint(lambda: Names(relay.out), local_addr=(HOME, 53))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with contextlib.suppress(asyncio.IncompleteReadError):
        await relay.listen(wire)
    server.close()


asyncio.run(main(int(sys.argv[1])))
