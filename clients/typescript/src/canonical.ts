/** The canonical form of JSON (RFC 8785), which the service signs, verifies and hashes. */

import { encode } from "./encoding.js";
import { InvalidRequest } from "./errors.js";
import { elements, members, type Payload } from "./rawJson.js";

/** The bytes that are signed: those of bytes and strings, and the canonical form of other values. */
export function signedBytes(data: Payload): Uint8Array {
    if (data instanceof Uint8Array) return data;
    const text = encode(data).trim();
    return new TextEncoder().encode(text.startsWith('"') ? string(text) : canonical(text));
}

/** The canonical form of a valid JSON text. It works on the text, where numbers have all their digits. */
function canonical(text: string): string {
    switch (text[0]) {
        case "{":
            return `{${sortedMembers(text).join(",")}}`;
        case "[":
            return `[${elements(text, 0).map((span) => canonical(text.slice(...span))).join(",")}]`;
        case '"':
            return JSON.stringify(string(text));
        case "t":
        case "f":
        case "n":
            return text;
        default:
            return number(text);
    }
}

function sortedMembers(text: string): string[] {
    const byName = new Map(members(text, 0).map(([name, span]) => [name, text.slice(...span)]));
    if (byName.size !== members(text, 0).length) throw refused("a member occurs twice");
    const sorted = [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([name, value]) => `${JSON.stringify(wellFormed(name))}:${canonical(value)}`);
}

function string(text: string): string {
    return wellFormed(JSON.parse(text) as string);
}

function wellFormed(text: string): string {
    if (/\p{Surrogate}/u.test(text)) throw refused("a lone surrogate has no canonical form");
    return text;
}

/** A number that is written with the same value. The service refuses others too. */
function number(text: string): string {
    const written = JSON.stringify(Number(text));
    if (written === "null" || decimal(text) !== decimal(written)) {
        throw refused("a number loses digits as a double; send it as a string");
    }
    return written;
}

/** A decimal in lowest terms, so that equal values have equal texts. */
function decimal(text: string): string {
    const [, sign = "", whole = "", fraction = "", exponent = "0"] =
        /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
    const digits = (whole + fraction).replace(/^0+/, "");
    const significant = digits.replace(/0+$/, "");
    if (significant === "") return "0";
    const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
    return `${sign}${significant}e${power.toString()}`;
}

function refused(reason: string): InvalidRequest {
    return new InvalidRequest(`the data cannot be signed: ${reason}`);
}
