/** The JSON text of what a caller gives. What JSON cannot represent is refused: `JSON.stringify` loses it without an error. */

import { ApiKey, ApiKeyFile, TokenFile } from "./credentials.js";
import { DataKeyCache } from "./dataKeys.js";
import { InvalidRequest } from "./errors.js";
import { DataKey, PassedThrough, Plaintext } from "./models.js";
import { base64, RawJson, type Payload } from "./rawJson.js";

/** Objects whose content is not in their members. */
const OPAQUE = [ApiKey, ApiKeyFile, DataKey, DataKeyCache, Error, PassedThrough, Plaintext, RawJson, TokenFile] as const;

/** The JSON text of a payload. Throws `InvalidRequest` for values that JSON cannot represent. */
export function encode(payload: Payload): string {
    if (payload instanceof RawJson) return payload.text;
    if (payload instanceof Uint8Array) return JSON.stringify(base64(payload));
    let reason: string | undefined;
    try {
        reason = loss(payload, "");
        if (reason === undefined) return JSON.stringify(payload);
    } catch (error) {
        // The error of toJSON can contain the value.
        reason = error instanceof RangeError ? "a value that contains itself or has too many levels" : "a value whose toJSON fails";
    }
    throw new InvalidRequest(`JSON cannot represent ${reason}`);
}

/** What `JSON.stringify` would lose of a value. */
function loss(value: unknown, name: string): string | undefined {
    switch (typeof value) {
        case "string":
        case "boolean":
            return undefined;
        case "number":
            return Number.isFinite(value) ? undefined : String(value);
        case "object":
            return value === null ? undefined : lossOfObject(value, name);
        case "undefined":
            return "undefined; leave the member out, or use null";
        case "bigint":
            return "a BigInt; use RawJson or a string";
        case "function":
        case "symbol":
            return `a ${typeof value}`;
    }
}

function lossOfObject(value: object, name: string): string | undefined {
    if (ArrayBuffer.isView(value)) return "bytes as a part of another value; use base64";
    if (OPAQUE.some((kind) => value instanceof kind)) return described(value);
    if (writesItself(value)) {
        const json = value.toJSON(name);
        return json === null && value instanceof Date ? "an invalid Date" : loss(json, name);
    }
    if (Array.isArray(value)) return first(value, (each, index) => loss(each, String(index)));
    const members = Object.entries(value);
    if (members.length === 0 && !isPlain(value)) return described(value);
    return first(members, ([each, member]) => loss(member, each));
}

function first<T>(values: readonly T[], find: (value: T, index: number) => string | undefined): string | undefined {
    for (let index = 0; index < values.length; index += 1) {
        const found = find(values[index] as T, index);
        if (found !== undefined) return found;
    }
    return undefined;
}

function writesItself(value: object): value is { toJSON(name: string): unknown } {
    return "toJSON" in value && typeof value.toJSON === "function";
}

function isPlain(value: object): boolean {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || prototype === Object.prototype;
}

function described(value: object): string {
    return `an object of the class ${value.constructor.name}`;
}
