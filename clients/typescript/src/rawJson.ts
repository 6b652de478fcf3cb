/** JSON to the letter: text that is sent and received without a change. */

import { InvalidRequest } from "./errors.js";

/** A value that JSON represents. A payload with another value is refused: see `Client.protect`. */
export type Json = unknown;

/** JSON text, sent exactly as it is: member order, `1.0`, big numbers and escapes do not change. Logs do not show it. */
export class RawJson {
    readonly #text: string;

    /** Throws `InvalidRequest` if the text is not one JSON value. The error does not contain the text. */
    constructor(text: string) {
        if (!isJson(text)) throw new InvalidRequest("the text is not one JSON value");
        this.#text = text;
    }

    /** Throws `TypeError`: a payload of JSON text is a whole, and `JSON.stringify` would lose it as a part. */
    toJSON(): never {
        throw new TypeError("RawJson cannot be a part of another value");
    }

    /** The text. */
    get text(): string {
        return this.#text;
    }
}

function isJson(text: string): boolean {
    try {
        JSON.parse(text);
        return true;
    } catch {
        return false;
    }
}

/** What can be protected: a JSON value, bytes (sent as base64), or JSON text. */
export type Payload = Json;

/** An object of members that are already JSON text. Omits members without a value. */
export function encodeObject(members: Readonly<Record<string, string | undefined>>): string {
    const present = Object.entries(members).filter(([, text]) => text !== undefined);
    return `{${present.map(([name, text]) => `${JSON.stringify(name)}:${text ?? ""}`).join(",")}}`;
}

/** The text of bytes in base64. */
export function base64(bytes: Uint8Array): string {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** The bytes of a base64 string, or `undefined` for another value. */
export function decodeBase64(value: Json): Uint8Array | undefined {
    if (typeof value !== "string") return undefined;
    const bytes = Buffer.from(value, "base64");
    return bytes.toString("base64") === value ? new Uint8Array(bytes) : undefined;
}

/** Where a value stands in a text. */
export type Span = readonly [start: number, end: number];

/** The names of an object's members, and where their values stand. The text must be valid JSON. */
export function members(text: string, start: number): [name: string, span: Span][] {
    const found: [string, Span][] = [];
    let at = skipSpace(text, skipSpace(text, start) + 1);
    while (text[at] === '"') {
        const nameEnd = valueEnd(text, at);
        const name = JSON.parse(text.slice(at, nameEnd)) as string;
        const value = skipSpace(text, skipSpace(text, nameEnd) + 1);
        const end = valueEnd(text, value);
        found.push([name, [value, end]]);
        at = skipSpace(text, skipSpace(text, end) + 1);
    }
    return found;
}

/** Where the elements of an array stand. The text must be valid JSON. */
export function elements(text: string, start: number): Span[] {
    const spans: Span[] = [];
    let at = skipSpace(text, skipSpace(text, start) + 1);
    if (text[at] === "]") return spans;
    for (;;) {
        const end = valueEnd(text, at);
        spans.push([at, end]);
        const next = skipSpace(text, end);
        if (text[next] !== ",") return spans;
        at = skipSpace(text, next + 1);
    }
}

function skipSpace(text: string, start: number): number {
    let at = start;
    while (" \t\n\r".includes(text.charAt(at)) && at < text.length) at += 1;
    return at;
}

/** The end of a valid value that starts here. */
function valueEnd(text: string, start: number): number {
    let depth = 0;
    let at = start;
    do {
        switch (text[at]) {
            case '"':
                at = stringEnd(text, at);
                break;
            case "{":
            case "[":
                depth += 1;
                at += 1;
                break;
            case "}":
            case "]":
                depth -= 1;
                at += 1;
                break;
            default:
                at = depth > 0 ? nextStructure(text, at + 1) : nextDelimiter(text, at);
        }
    } while (depth > 0);
    return at;
}

function stringEnd(text: string, start: number): number {
    let at = start + 1;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    return at + 1;
}

function nextStructure(text: string, start: number): number {
    return next(text, start, '"{}[]');
}

function nextDelimiter(text: string, start: number): number {
    return next(text, start, ",]} \t\n\r");
}

function next(text: string, start: number, wanted: string): number {
    let at = start;
    while (at < text.length && !wanted.includes(text.charAt(at))) at += 1;
    return at;
}
