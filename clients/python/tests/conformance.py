"""The runner of the conformance cases, for both clients."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import anyio
import calls
from opentelemetry import context, trace

import sealward
from sealward import AsyncClient, Client, SealwardError

Json = Any
HERE = Path(__file__).parents[2] / "conformance"


class Server:
    """The scripted server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str) -> Json:
        with urlopen(f"{self.url}/_conformance/{path}") as answer:  # noqa: S310 # the server of this test
            return json.load(answer)

    def post(self, path: str, body: Json) -> Json:
        request = Request(f"{self.url}/_conformance/{path}", json.dumps(body).encode(), method="POST")  # noqa: S310
        with urlopen(request) as answer:  # noqa: S310
            return json.load(answer)


@contextmanager
def running_server(*arguments: str) -> Iterator[Server]:
    command = [sys.executable, str(HERE / "server.py"), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip())
        process.communicate("")


class Runner:
    """One run of one case."""

    def __init__(self, server: Server, language: str, case: Json, folder: Path) -> None:
        self.server, self.language, self.folder = server, language, folder
        self.session = server.post(f"start/{language}/{case['name']}", None)
        self.case = self.session["case"]
        self.outcomes: list[Json] = []
        self.credential_file = folder / "credential"
        self.texts: list[str] = []

    def run(self) -> Json:
        with current_span(self.case["client"].get("traceparent")):
            with self._judging() as made:
                if self.language.endswith("-async"):
                    anyio.run(self._tasks)
                else:
                    self._threads()
            # Calls report their own errors.
            if "error" in made:
                self.outcomes.append(made)
        report = {"outcomes": self.outcomes, "texts": self.texts}
        return self.server.post(f"finish/{self.session['session']}", report)

    def _threads(self) -> None:
        with self._client(Client) as client, ThreadPoolExecutor(8) as threads:
            self._keep_text(client)
            for step in self.case["steps"]:
                if "write" in step:
                    self._write(step["write"])
                    continue
                count = step.get("concurrent", 1)
                if count == 1:
                    self.outcomes.append(self._call(client, step))
                else:
                    self.outcomes += threads.map(lambda _, step=step: self._call(client, step), range(count))

    async def _tasks(self) -> None:
        async def call(client: AsyncClient, step: Json) -> None:
            self.outcomes.append(await self._call_async(client, step))

        async with self._client(AsyncClient) as client:
            self._keep_text(client)
            for step in self.case["steps"]:
                if "write" in step:
                    self._write(step["write"])
                    continue
                async with anyio.create_task_group() as tasks:
                    for _ in range(step.get("concurrent", 1)):
                        tasks.start_soon(call, client, step)

    def _write(self, text: str) -> None:
        new = self.folder / "new"
        new.write_text(text)
        new.replace(self.credential_file)

    def _client(self, kind: type[Any]) -> Any:
        wanted = self.case["client"]
        names = {
            "deadlineSeconds": "deadline",
            "maxAttempts": "max_attempts",
            "maxRetryAfterSeconds": "max_retry_after",
            "allowPlaintext": "allow_plaintext",
        }
        options = {name: wanted[key] for key, name in names.items() if key in wanted}
        if cache := wanted.get("dataKeyCache"):
            options["data_key_cache"] = self.cache = sealward.DataKeyCache(
                max_age=cache["maxAgeSeconds"], max_messages=cache["maxMessages"], max_bytes=cache["maxBytes"]
            )
        if "environment" in wanted:
            return kind.from_environment({name: self._filled(text) for name, text in wanted["environment"].items()})
        credential = wanted["credential"]
        if credential.get("certificate"):
            options["certificate"] = sealward.ClientCertificate(
                self.session["certificateFile"], self.session["certificateKeyFile"]
            )
        if self.case.get("tls") and "caFile" not in wanted:
            options["ca_file"] = self.session["caFile"]
        return kind(self.session["url"], self._credential(credential), **options)

    def _credential(self, wanted: Json) -> Any:
        if "apiKey" in wanted:
            return wanted["apiKey"]
        for name, kind in (("apiKeyFile", sealward.ApiKeyFile), ("tokenFile", sealward.TokenFile)):
            if name in wanted:
                self._write(wanted[name])
                credential = kind(self.credential_file)
                self._keep_text(credential)
                return credential
        return None

    def _filled(self, text: str) -> str:
        if text.startswith("{file:"):
            self._write(text.removeprefix("{file:").removesuffix("}"))
            return str(self.credential_file)
        return text.format(**self.session)

    def _keep_text(self, value: object) -> None:
        self.texts += [repr(value), str(value)]

    def _call(self, client: Client, step: Json) -> Json:
        with self._judging() as outcome:
            outcome["result"] = self._seen(step, self._begin(client, step))
        return outcome

    async def _call_async(self, client: AsyncClient, step: Json) -> Json:
        with self._judging() as outcome:
            result = self._begin(client, step)
            outcome["result"] = self._seen(step, await result if inspect.isawaitable(result) else result)
        return outcome

    def _begin(self, client: Any, step: Json) -> Any:
        if step["call"] == "dataKeyCacheCounters":
            return self.cache.counters
        used = {name: self.outcomes[number]["result"][member] for name, (number, member) in step.get("use", {}).items()}
        positional, keywords = calls.arguments(step["call"], step["arguments"] | used)
        return getattr(client, calls.method(step["call"]))(*positional, **keywords)

    def _seen(self, step: Json, result: Any) -> Json:
        self._keep_text(result)
        return calls.result(step["call"], result)

    @contextmanager
    def _judging(self) -> Iterator[Json]:
        outcome: Json = {}
        began = time.monotonic()
        try:
            yield outcome
        except SealwardError as error:
            self._keep_text(error)
            self.texts.append("".join(traceback.format_exception(error)))
            outcome["error"] = calls.error(error)
        outcome["seconds"] = time.monotonic() - began


@contextmanager
def current_span(traceparent: str | None) -> Iterator[None]:
    """Makes the span of a header the current one."""
    if traceparent is None:
        yield
        return
    _, trace_id, span_id, flags = (int(part, 16) for part in traceparent.split("-"))
    span = trace.NonRecordingSpan(trace.SpanContext(trace_id, span_id, True, trace.TraceFlags(flags)))
    token = context.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        context.detach(token)
