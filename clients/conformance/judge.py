"""Compares a run of a case with what the case expects."""

import base64
import json
from typing import Any

Json = Any


def problems(case: Json, requests: list[Json], report: Json, facts: dict[str, str]) -> list[str]:
    """What is wrong with a run. `facts` replace `{language}` and `{version}` in expected headers."""
    found = judged_steps(case, report)
    expected = case.get("requests", requests)
    if len(requests) != len(expected):
        found.append(f"{len(requests)} requests instead of {len(expected)}: {[it['path'] for it in requests]}")
    for number, (wanted, request) in enumerate(zip(case.get("requests", []), requests, strict=False)):
        before = requests[number - 1] if number else None
        found += [f"request {number + 1}: {text}" for text in request_problems(wanted, request, before, facts)]
    if not report["texts"]:
        found.append("the report contains no texts")
    found += [
        f"no text of the client contains {text!r}" for text in case.get("shown", []) if not is_shown(text, report)
    ]
    return found + [f"a text of the client contains {secret!r}" for secret in leaked(case, report)]


def judged_steps(case: Json, report: Json) -> list[str]:
    calls = [step for step in case["steps"] if "call" in step for _ in range(step.get("concurrent", 1))]
    outcomes = report["outcomes"]
    if len(outcomes) != len(calls):
        return [f"{len(outcomes)} outcomes for {len(calls)} calls"]
    found = []
    for step, outcome in zip(calls, outcomes, strict=True):
        step = resolved(step, outcomes)
        kind = "result" if "result" in step else "error"
        if kind in outcome:
            found += [f"{step['call']}: {text}" for text in differences(step[kind], outcome[kind], kind)]
        else:
            found.append(f"{step['call']}: {json.dumps(outcome)[:500]} instead of the {kind}")
        if outcome["seconds"] > step.get("maxSeconds", 60):
            found.append(f"{step['call']} took {outcome['seconds']:.1f} s instead of at most {step['maxSeconds']} s")
    return found


def resolved(value: Json, outcomes: list[Json]) -> Json:
    """A step, with members of earlier results in place of `{"same": [OUTCOME, MEMBER]}`."""
    if isinstance(value, dict):
        if list(value) == ["same"]:
            number, member = value["same"]
            return outcomes[number].get("result", {}).get(member)
        return {name: resolved(each, outcomes) for name, each in value.items()}
    return [resolved(each, outcomes) for each in value] if isinstance(value, list) else value


def leaked(case: Json, report: Json) -> list[str]:
    """The secrets of a case that appear in the texts that a client makes of itself and of its errors."""
    secrets = [*case.get("secrets", []), *credential_texts(case)]
    return [secret for secret in secrets if any(secret in text for text in report["texts"])]


def is_shown(text: str, report: Json) -> bool:
    return any(text in each for each in report["texts"])


def credential_texts(case: Json) -> list[str]:
    credential = case.get("client", {}).get("credential", {})
    return [text for text in credential.values() if isinstance(text, str)]


def request_problems(wanted: Json, request: Json, before: Json, facts: dict[str, str]) -> list[str]:
    found = [
        f"{name} is {request[name]!r} instead of {wanted[name]!r}"
        for name in ("method", "path", "certificate")
        if name in wanted and request[name] != wanted[name]
    ]
    for name, value in wanted.get("headers", {}).items():
        found += header_problems(name, value, request, before, facts)
    if "body" in wanted:
        found += differences(wanted["body"], json.loads(request["body"] or "null"), "body", whole=True)
    if "bodyContains" in wanted and wanted["bodyContains"] not in request["body"]:
        found.append(f"the body does not contain {wanted['bodyContains']!r}: {request['body'][:500]}")
    if "items" in wanted and len(json.loads(request["body"])["items"]) != wanted["items"]:
        found.append(f"{len(json.loads(request['body'])['items'])} items instead of {wanted['items']}")
    least, most = wanted.get("after", [0, 600])
    if not least <= request["after"] <= most:
        found.append(f"it came {request['after']:.3f} s after the last answer instead of {least} to {most} s")
    return found


def header_problems(name: str, value: str | None, request: Json, before: Json, facts: dict[str, str]) -> list[str]:
    found = request["headers"].get(name.lower())
    match value:
        case "{any}":
            right = bool(found)
        case "{same}":
            right = bool(found) and found == before["headers"].get(name.lower())
        case None:
            right = found is None
        case _:
            for fact, text in facts.items():
                value = value.replace("{" + fact + "}", text)
            right = found == value
    return [] if right else [f"the header {name} is {found!r} instead of {value!r}"]


def differences(wanted: Json, found: Json, at: str, whole: bool = False) -> list[str]:
    """Where `found` lacks what is wanted; members that are not wanted matter only if `whole`."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        surplus = [f"{at}.{name} is unexpected" for name in found if whole and name not in wanted]
        return surplus + [
            text
            for name, value in wanted.items()
            for text in differences(value, found.get(name), f"{at}.{name}", whole)
        ]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [
            text
            for at_item, pair in enumerate(zip(wanted, found, strict=True))
            for text in differences(*pair, f"{at}[{at_item}]", whole)
        ]
    if isinstance(wanted, bool) != isinstance(found, bool) or wanted != found:
        return [f"{at} is {json.dumps(found)[:300]} instead of {json.dumps(wanted)[:300]}"]
    return []


def expanded(answer: Json) -> bytes:
    """The bytes of an answer's body."""
    if "base64" in answer:
        return base64.b64decode(answer["base64"])
    if "text" in answer:
        return answer["text"].encode()
    if "repeat" in answer:
        items = [answer["repeat"]["item"]] * answer["repeat"]["count"]
        return json.dumps({"requestId": "req_conformance", "items": items}).encode()
    return json.dumps(answer["body"]).encode() if "body" in answer else b""
