"""Outages of a token, and mistakes in its settings."""

import json, signal, threading, time
from concurrent.futures import ThreadPoolExecutor

from exercises import SIGNATURES
from service import PATIENCE, Cannot, Failure, within


def outages(service, exercises):
    """What happens to the service when its daemon does not answer, and at its start: titles and exercises."""
    daemon = service.token.daemon
    kinds = [("P-256", {"alg": "ECDH-ES+A256KW"}), ("RSA-2048", {}), ("RSA-2048", {"alg": "RSA-OAEP"})]

    def number():
        for kind, jwe in kinds:
            try:
                found = exercises.envelope_service(kind, jwe)
                exercises.opens(found, exercises.protect(found, "payload"), "payload")
                return found
            except (Cannot, Failure):
                pass
        raise Failure("no envelope can be opened")

    def killed():
        outage(service, exercises, number(), daemon.end, daemon.start, seconds=8, unnoticed=3, patience=35)

    def stopped():
        stop, go_on = lambda: daemon.send(signal.SIGSTOP), lambda: daemon.send(signal.SIGCONT)
        outage(service, exercises, number(), stop, go_on, seconds=15, unnoticed=0, patience=2)

    def late():
        service.stop()
        daemon.end()
        service.start(ready=False)
        if service.status("/readyz") != 503:
            raise Failure("ready without a token")
        daemon.start()
        within("readiness", lambda: service.status("/readyz") == 200 or service.check_alive(), 40)

    return [("Daemon killed for 8 s", killed), ("Daemon stopped for 15 s", stopped),
            ("Start while the daemon is down", late)]


def outage(service, exercises, number, begin, end, *, seconds, unnoticed, patience):
    """Opens an envelope all the time while the daemon is out. Wrong answers and an end of the process fail.

    For the time `unnoticed`, until the canary has failed, a failure can be that of the envelope. `patience` is the
    time after the outage in which the token must serve again.
    """
    envelope = exercises.protect(number, "payload")
    stop, answers, failures, began = threading.Event(), [], [], [None]

    def client():
        while not stop.is_set():
            body = {"jwe": envelope, "policyNumber": number}
            status, found, headers = service.answer("/api/v1/unprotect", body, service.key)
            now = time.monotonic()
            answers.append((now, status))
            if status == 200 and found["payload"] != "payload":
                failures.append("another payload")
            is_early = status == 500 and began[0] and now < began[0] + unnoticed
            if status != 200 and not is_early and (status != 503 or "Retry-After" not in headers):
                failures.append(f"{status} {found}")
            time.sleep(0.05)

    threads = [threading.Thread(target=client, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    began[0] = time.monotonic()
    begin()
    # Envelopes are made without the token.
    while time.monotonic() - began[0] < seconds:
        exercises.protect(number, "made during the outage")
        time.sleep(0.5)
    end()
    ended = time.monotonic()
    time.sleep(patience + 3)
    stop.set()
    for thread in threads:
        thread.join()
    service.check_alive()
    if failures:
        raise Failure(f"{len(failures)} answers: {failures[0]}")
    late = [at - ended for at, status in answers if at > ended + patience and status != 200]
    if late:
        raise Failure(f"still 503 after {max(late):.1f} s")
    if not any(status == 200 for at, status in answers if at > ended):
        raise Failure("no envelope is opened afterwards")


def mistakes(service, faulty):
    """Limits and mistakes of an installation: titles and exercises. `faulty` is a module that forwards to that of the
    token."""
    def wrong_pin():
        service.stop()
        service.write("87654329", service.token.module)
        ended = service.command("serve", timeout=PATIENCE)
        if ended.returncode != 78:
            raise Failure(f"exit code {ended.returncode}: {ended.stderr}")
        service.write(service.token.pin, service.token.module)
        service.start()

    def limited():
        """The token gives four sessions: the anchor, the monitor and two workers."""
        service.stop()
        control = service.folder / "faults"
        control.mkdir()
        (control / "module").write_text(str(service.token.module))
        (control / "calls").write_text("")
        (control / "rules").write_text("0\nC_OpenSession 1 18446744073709551615 * * * session-limit 4\n")
        service.environment["FAULTY_TOKEN"] = str(control)
        service.write(service.token.pin, faulty)
        service.start()
        def health():
            [token] = service.call("/api/v1/health")["checks"]["hsm"]["tokens"]
            return token

        try:
            within("two workers", lambda: health()["workers"] == 2, 20)
        except Failure as failure:
            raise Failure(f"{failure}: {health()}")
        if health()["status"] != "degraded":
            raise Failure(json.dumps(health()))
        listed = service.call(f"/admin/keys?serviceId={service.service}&limit=200")["items"]
        for kind, algorithm in [("RSA-2048", "RSA-PSS-SHA256"), *SIGNATURES]:
            usable = [key["id"] for key in listed if key["algorithm"] == kind and key.get("use") == "sig"
                      and key["status"] == "active" and key["origin"] == "generated"]
            if usable:
                break
        body = {"operation": "sign", "payload": {"data": "x", "algorithm": algorithm, "keyId": usable[0]}}
        first = service.answer("/api/v1/operations", body, service.key)
        if first[0] != 200:
            raise Failure(f"{first[0]} {first[1]}")
        # Twice as many at once as workers, so that a slow token answers within the deadline: NSS derives a key for
        # each signature.
        with ThreadPoolExecutor(4) as pool:
            sent = [pool.submit(service.answer, "/api/v1/operations", body, service.key) for _ in range(60)]
            answers = [answer.result()[0] for answer in sent]
        if answers.count(200) != 60:
            raise Failure(f"{answers.count(200)} of 60 signatures")

    return [("A wrong PIN once, then the right one", wrong_pin), ("Four sessions, 60 signatures", limited)]
