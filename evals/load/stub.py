"""An OpenAI-compatible model that waits, then quotes its first source. `python -m evals.load.stub SECONDS` prints its
address. Everything happens on one event loop, so that hundreds of requests wait at the same time for nothing. With
`--moody` it does as it likes, by chance: it writes around the JSON, breaks it off, adds a sentence of its own, declines
or writes prose. Asked the same again it says something else."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from evals.process import ROOT

_SOURCE = re.compile(r"<evidence-(\w+) n=(\d+) from=[^\n]*>\n(.*?)\n</evidence-\1>", re.S)


def answer(body: dict[str, Any], chance: Random | None = None) -> bytes:
    prompt = "\n\n".join(str(m["content"]) for m in body["messages"])
    found = _SOURCE.search(prompt)
    text = max(re.split(r"(?<=[.!?])\s|\n", found[3]), key=len).strip() if found else ""
    sentences = [{"text": text, "sources": [int(found[2])]}] if found else []
    said: dict[str, Any] = {"answered": bool(found), "sentences": sentences}
    written = json.dumps(said)
    if chance and found:
        own = {"text": "The harbour office closes at noon on Sundays.", "sources": [int(found[2])]}
        written = chance.choice((
            written,
            f"Here is the answer.\n```json\n{written}\n```\nI hope this helps.",
            written[:-2],
            json.dumps({**said, "sentences": [*sentences, own]}),
            json.dumps({"answered": False, "sentences": []}),
            f"{text} [{found[2]}]",
        ))  # fmt: skip
    message = {"role": "assistant", "content": written, "refusal": None}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
    ).encode()


async def main(seconds: float, chance: Random | None, host: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                length = re.search(r"content-length: (\d+)", head, re.I)
                body = await reader.readexactly(int(length[1]) if length else 0)
                if head.startswith("POST"):
                    await asyncio.sleep(seconds)
                data = (
                    answer(json.loads(body), chance) if head.startswith("POST") else b'{"object": "list", "data": []}'
                )
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data)
                    + data
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, host, 0, backlog=512)
    print(f"http://{host}:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


@contextmanager
def running(
    seconds: float, *options: str, host: str = "127.0.0.1", within: Sequence[str] = ()
) -> Iterator[dict[str, str]]:
    """The settings for it; in a process of its own, so that its work is not counted as that of who asks it. `within`: a
    command that becomes it, such as one that puts it on another host."""
    command = [*within, sys.executable, "-m", "evals.load.stub", str(seconds), *options, "--host", host]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        yield {"CORDON_MODEL": "stub", "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    where = sys.argv[sys.argv.index("--host") + 1] if "--host" in sys.argv else "127.0.0.1"
    asyncio.run(main(float(sys.argv[1]), Random(1) if "--moody" in sys.argv else None, where))
