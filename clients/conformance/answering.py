#!/usr/bin/env python3
"""A server that answers each request with the same envelope, for measurements of CPU time.

It prints its address and then serves until its standard input closes.
"""

import asyncio
import json
import sys

ENVELOPE = {
    "protected": "A" * 150,
    "encrypted_key": "A" * 512,
    "iv": "A" * 16,
    "ciphertext": "A" * 100,
    "tag": "A" * 22,
}
BODY = json.dumps(
    {"requestId": "req_1", "messageType": "ProtectedPayload", "operations": ["encrypt"], "jwe": ENVELOPE},
    separators=(",", ":"),
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (head := self.received.find(b"\r\n\r\n")) >= 0:
            names = (line.partition(b":") for line in self.received[:head].split(b"\r\n")[1:])
            length = next((int(value) for name, _, value in names if name.lower() == b"content-length"), 0)
            end = head + 4 + length
            if len(self.received) < end:
                return
            self.received = self.received[end:]
            self.transport.write(ANSWER)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
