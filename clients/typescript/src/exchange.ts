/** Requests and answers, without any input or output. */

import { DecryptionFailed, errorType, InvalidRequest, UnexpectedAnswer, type Problem, type SealwardError } from "./errors.js";
import { elements, members, RawJson, type Json } from "./rawJson.js";
import { traceparent } from "./tracing.js";
import { VERSION } from "./version.js";

/** What each call takes beside its own arguments. */
export interface CallOptions {
    /** The ID that the service logs. */
    readonly requestId?: string | undefined;
    /** The milliseconds for the call with all its attempts. */
    readonly deadlineMs?: number | undefined;
    /** Ends the call. */
    readonly signal?: AbortSignal | undefined;
}

/** One request. */
export interface Request {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly body?: string;
    /** Whether the call opens an envelope, so that an `INTERNAL_ERROR` is final. */
    readonly opening?: boolean;
    /** Whether the request carries no credential. */
    readonly anonymous?: boolean;
    /** An error status that can carry a result. */
    readonly resultStatus?: number;
}

/** The headers of a request. */
export function headersOf(request: Request, authorization: string | undefined, requestId: string | undefined): Headers {
    const headers: Headers = { "User-Agent": `sealward-typescript/${VERSION}`, Accept: "application/json" };
    if (request.body !== undefined) headers["Content-Type"] = "application/json";
    if (authorization !== undefined) headers["Authorization"] = authorization;
    if (requestId !== undefined) {
        if (!/^[ -~]*$/.test(requestId)) {
            throw new InvalidRequest("the request ID has characters other than printable ones of ASCII");
        }
        headers["X-Request-Id"] = requestId;
    }
    const trace = traceparent();
    if (trace !== undefined) headers["traceparent"] = trace;
    return headers;
}

/** Names and values of headers. */
export type Headers = Record<string, string>;

/** A JSON object of an answer: all of it, or an item of a batch. */
export class Part {
    constructor(
        readonly text: string,
        readonly json: Readonly<Record<string, Json>>,
        readonly status: number,
        readonly requestId: string,
    ) {}

    /** The text of a member, to the letter. Throws `UnexpectedAnswer` if it is missing. */
    raw(...path: readonly string[]): RawJson {
        let [start, end] = [0, this.text.length];
        for (const name of path) {
            const [, span] = members(this.text, start).find(([found]) => found === name) ?? [];
            if (span === undefined) throw this.unexpected(`it has no ${path.join(".")}`);
            [start, end] = span;
        }
        return new RawJson(this.text.slice(start, end));
    }

    /** The items of a batch. */
    items(count: number): Part[] {
        const items = this.json["items"];
        const [, span] = members(this.text, 0).find(([name]) => name === "items") ?? [];
        if (!Array.isArray(items) || items.length !== count || span === undefined) {
            throw this.unexpected(`it does not have ${count} items`);
        }
        return elements(this.text, span[0]).map(([start, end], index) => {
            const item: unknown = items[index];
            if (!isObject(item)) throw this.unexpected("an item is not an object");
            return new Part(this.text.slice(start, end), item, this.status, this.requestId);
        });
    }

    /** The error for an answer that the API does not document. */
    unexpected(reason: string): UnexpectedAnswer {
        return unexpected(reason, this.status, this.requestId);
    }
}

/** One answer. */
export class Answer {
    constructor(
        readonly status: number,
        readonly header: (name: string) => string | undefined,
        readonly body: Uint8Array,
    ) {}

    /** The seconds that the service asks to wait. Dates are not supported. */
    get retryAfterSeconds(): number | undefined {
        const text = this.header("retry-after") ?? "";
        return /^[0-9]+$/.test(text) ? Number(text) : undefined;
    }

    /** The result that the answer carries, or `undefined` if it carries an error. */
    result(request: Request): Part | undefined {
        if (this.status !== 200 && this.status !== request.resultStatus) return undefined;
        const part = this.#part();
        if (part === undefined) throw unexpected("it is not a JSON object", this.status, this.header("x-request-id"));
        return "error" in part.json ? undefined : part;
    }

    /** The error that the answer carries. */
    error(request: Request): SealwardError {
        const requestId = this.header("x-request-id");
        if (this.status < 400) return unexpected("the status is not documented", this.status, requestId);
        const part = this.#part();
        const known = part?.requestId ?? requestId;
        return apiError(this.status, part?.json["error"], known, request.opening ?? false, this.retryAfterSeconds);
    }

    #part(): Part | undefined {
        try {
            const text = new TextDecoder("utf-8", { fatal: true }).decode(this.body);
            const json: unknown = JSON.parse(text);
            if (!isObject(json)) return undefined;
            const requestId = json["requestId"];
            const known = typeof requestId === "string" ? requestId : (this.header("x-request-id") ?? "");
            return new Part(text, json, this.status, known);
        } catch {
            return undefined;
        }
    }
}

/** The error for an error object of the API, or for an answer without one. */
export function apiError(
    status: number,
    error: Json,
    requestId: string | undefined,
    opening: boolean,
    retryAfterSeconds?: number,
): SealwardError {
    const members = isObject(error) ? error : {};
    const code = typeof members["code"] === "string" ? members["code"] : undefined;
    const Kind = errorType(status, code, opening);
    let message = `status ${status} of a server that is not Sealward`;
    if (Kind === DecryptionFailed) message = "it cannot be opened; this is final, so do not repeat the call";
    else if (typeof members["message"] === "string") message = members["message"];
    const details = Array.isArray(members["details"]) ? members["details"].map(problem) : [];
    return new Kind(message, { status, code, requestId: requestId === "" ? undefined : requestId, details, retryAfterSeconds });
}

function problem(value: Json): Problem {
    const members = isObject(value) ? value : {};
    const text = (name: string): string => (typeof members[name] === "string" ? members[name] : "");
    return { field: text("field"), code: text("code"), message: text("message") };
}

function unexpected(reason: string, status: number, requestId: string | undefined): UnexpectedAnswer {
    return new UnexpectedAnswer(`the answer is not what the API documents: ${reason}`, { status, requestId });
}

/** Whether a value is a JSON object. */
export function isObject(value: Json): value is Readonly<Record<string, Json>> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
