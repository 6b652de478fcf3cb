/** Reads the results of the runtime API. */

import { NotProtected, SealwardError } from "./errors.js";
import { apiError, isObject, type Part } from "./exchange.js";
import { DataKey, PassedThrough, Plaintext } from "./models.js";
import type { CallerIdentity, Dropped, Health, Jwe, JwkSet, PolicySummary, Protected, Rewrapped } from "./models.js";
import { decodeBase64, type Json } from "./rawJson.js";

/** Reads an object of the API that has at least these members. */
export function read<T>(part: Part, members: readonly (keyof T & string)[], value: Json = part.json): T {
    const missing = isObject(value) ? members.find((name) => !(name in value)) : "result";
    if (missing !== undefined) throw part.unexpected(`it has no ${missing}`);
    return value as T;
}

/** Reads an envelope. */
export function readJwe(part: Part): Jwe {
    const jwe = part.json["jwe"];
    const members = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];
    if (!isObject(jwe) || !members.every((name) => typeof jwe[name] === "string")) {
        throw part.unexpected("it has no envelope");
    }
    return jwe as unknown as Jwe;
}

/** Reads an envelope, or what the failure mode of the policy left of the payload. */
export function readProtected(part: Part): Protected | PassedThrough | Dropped {
    const { operations, dropped, message, warning } = part.json;
    const { requestId } = part;
    if (Array.isArray(operations) && operations.length === 1 && operations[0] === "encrypt") {
        return { kind: "protected", jwe: readJwe(part), requestId };
    }
    if (Array.isArray(operations) && operations.length === 0 && !("jwe" in part.json)) {
        if (dropped === true) return { kind: "dropped", message: textOf(message), requestId };
        if ("payload" in part.json) return new PassedThrough(part.raw("payload"), textOf(warning), requestId);
    }
    throw part.unexpected("it neither contains an envelope nor says that there is none");
}

/** The envelope, or an error if the payload was not protected. */
export function onlyProtected(result: Protected | PassedThrough | Dropped): Protected | NotProtected {
    if (result.kind === "protected") return result;
    const what = result.kind === "dropped" ? "dropped it" : "passed it through unprotected";
    const text = `the payload is not protected: its policy is inactive and the service ${what}`;
    return new NotProtected(text, { requestId: result.requestId });
}

/** Reads an opened payload. */
export function readPlaintext(part: Part): Plaintext {
    return new Plaintext(part.raw("payload"), part.requestId);
}

/** Reads an envelope that was sealed again. */
export function readRewrapped(part: Part): Rewrapped {
    return { jwe: readJwe(part), requestId: part.requestId };
}

/** Reads a data key. */
export function readDataKey(part: Part): DataKey {
    const { algorithm } = read<{ algorithm: string }>(part, ["algorithm"]);
    const key = "key" in part.json ? readBytes(part, part.json, "key") : undefined;
    return new DataKey(algorithm, readJwe(part), key, part.requestId);
}

/** Reads the result of an operation, whose `binary` members are bytes. */
export function readResult<T>(part: Part, binary: readonly (keyof T & string)[], others: readonly (keyof T & string)[]): T {
    const result = read<Record<string, Json>>(part, [...binary, ...others], part.json["result"]);
    const bytes = binary.map((name) => [name, readBytes(part, result, name)]);
    return Object.freeze({ ...Object.fromEntries(others.map((name) => [name, result[name]])), ...Object.fromEntries(bytes) }) as T;
}

/** Reads who the caller is. */
export function readCaller(part: Part): CallerIdentity {
    return read(part, ["serviceId", "credential", "policyNumber", "allowedOperations", "rateLimit"]);
}

/** Reads a policy. */
export function readPolicy(part: Part): PolicySummary {
    return read(part, ["id", "policyNumber", "status", "keyOwnership", "alg", "enc", "contextRequired", "headers", "key"]);
}

/** Reads the state of the service. */
export function readHealth(part: Part): Health {
    return read(part, ["status", "version", "timestamp", "checks"]);
}

/** Reads published keys. */
export function readKeys(part: Part): JwkSet {
    const keys = read<JwkSet>(part, ["keys"]);
    if (!Array.isArray(keys.keys)) throw part.unexpected("keys is not a list");
    return keys;
}

/** Reads an item of a batch. */
export function readItem<T>(part: Part, opening: boolean, readResult: (part: Part) => T): T | SealwardError {
    const status = part.json["status"];
    if (status === 200) return readResult(part);
    if (typeof status !== "number") throw part.unexpected("an item has no status");
    return apiError(status, part.json["error"], part.requestId, opening);
}

function readBytes(part: Part, object: Readonly<Record<string, Json>>, name: string): Uint8Array {
    const bytes = decodeBase64(object[name]);
    if (bytes === undefined) throw part.unexpected(`${name} is not a base64 string`);
    return bytes;
}

function textOf(value: Json): string {
    return typeof value === "string" ? value : "";
}
