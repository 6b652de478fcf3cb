"""Forwards connections on a port of this machine to another: forward.py PORT TARGET"""

import asyncio
import sys

port, target = map(int, sys.argv[1:])


async def copy(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def forward(reader, writer):
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))


async def main():
    server = await asyncio.start_server(forward, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(main())
