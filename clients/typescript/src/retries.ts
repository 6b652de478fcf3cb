/** How often and how long a client repeats a request. */

import { setTimeout as sleep } from "node:timers/promises";

import { DeadlineExceeded, type ConnectionFailed } from "./errors.js";
import { Answer, type CallOptions } from "./exchange.js";

const FIRST_WAIT_MS = 100;
const REPEATED: readonly number[] = [429, 502, 503, 504];

/** The limits of all calls of a client. */
export interface Limits {
    readonly deadlineMs: number;
    readonly maxAttempts: number;
    readonly maxRetryAfterMs: number;
}

/** The time of one call, for all its requests. */
export class Deadline {
    readonly #end: number;
    readonly #timer: NodeJS.Timeout;
    readonly #controller = new AbortController();
    readonly #user: AbortSignal | undefined;

    constructor(limits: Limits, options: CallOptions) {
        const milliseconds = options.deadlineMs ?? limits.deadlineMs;
        this.#end = performance.now() + milliseconds;
        this.#timer = setTimeout(() => {
            this.#controller.abort(deadlineExceeded());
        }, milliseconds);
        this.#user = options.signal;
        this.#user?.addEventListener("abort", this.#abort);
        if (this.#user?.aborted === true) this.#abort();
    }

    /** Ends requests and waits at the deadline, or when the caller ends the call. */
    get signal(): AbortSignal {
        return this.#controller.signal;
    }

    /** The milliseconds that are left. */
    get left(): number {
        return this.#end - performance.now();
    }

    /** Waits, and rejects with the reason of the signal. */
    async wait(milliseconds: number): Promise<void> {
        try {
            await sleep(milliseconds, undefined, { signal: this.signal });
        } catch {
            throw this.signal.reason;
        }
    }

    /** Stops the timer. */
    end(): void {
        clearTimeout(this.#timer);
        this.#user?.removeEventListener("abort", this.#abort);
    }

    readonly #abort = (): void => {
        this.#controller.abort(this.#user?.reason);
    };
}

/** The milliseconds until the next attempt, or `undefined` if the outcome is final. */
export function waitAfter(
    outcome: Answer | ConnectionFailed,
    attempts: number,
    limits: Limits,
    deadline: Deadline,
): number | undefined {
    if (attempts >= limits.maxAttempts) return undefined;
    if (outcome instanceof Answer && !REPEATED.includes(outcome.status)) return undefined;
    const asked = outcome.retryAfterSeconds;
    const wait =
        asked === undefined
            ? FIRST_WAIT_MS * 2 ** (attempts - 1) * Math.random()
            : Math.min(asked * 1000, limits.maxRetryAfterMs);
    return wait < deadline.left ? wait : undefined;
}

function deadlineExceeded(): DeadlineExceeded {
    return new DeadlineExceeded("the deadline passed before an answer arrived");
}
