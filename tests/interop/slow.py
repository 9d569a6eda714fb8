"""A slow chat completions server on loopback that counts its answers.

    slow.py SECONDS

Prints its address. A reply is plain text that depends only on the request body; it takes SECONDS to 1.5 × SECONDS. GET /stats returns
the numbers of requests (`asked`) and answers (`answered`), the number of answers to a body that had been answered before (`again`),
and the maximum number of concurrent requests (`most_open`).
"""

import asyncio
import hashlib
import json
import sys

WORDS = (
    "river ledger stone boat winter letter salt lamp bridge debt orchard bell morning rope kitchen road harvest window "
    "coat market promise brother grain gate"
).split()
slow = float(sys.argv[1])
answered = {}
asked = open_now = most = 0


def reply(body):
    digest = hashlib.sha256(body).digest()
    words = [WORDS[byte % len(WORDS)] for byte in digest[:8]]
    said = f"(looks up) I would sooner trust the {words[0]} and the {words[1]} than any {words[2]} of yours, {words[3]} or no {words[4]}."
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 24}
    choices = [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]
    return json.dumps({"model": "slow", "choices": choices, "usage": usage}).encode(), digest[31] / 512


async def converse(reader, writer):
    global asked, open_now, most
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = [int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:")]
            body = await reader.readexactly(length[0] if length else 0)
            if head.startswith("get /stats"):
                again = sum(answered.values()) - len(answered)
                stats = {"asked": asked, "answered": sum(answered.values()), "again": again, "most_open": most}
                answer = json.dumps(stats).encode()
            else:
                asked, open_now = asked + 1, open_now + 1
                most = max(most, open_now)
                answer, more = reply(body)
                await asyncio.sleep(slow * (1 + more))
                open_now -= 1
                # A killed client has closed its connection.
                if reader.at_eof() or writer.is_closing():
                    return
                key = hashlib.sha256(body).digest()
                answered[key] = answered.get(key, 0) + 1
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer) + answer
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(converse, "127.0.0.1", 0, limit=1 << 24)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
