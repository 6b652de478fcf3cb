/** The calls, arguments and results of the conformance cases, in terms of this library. */

import {
    DataKey,
    PassedThrough,
    Plaintext,
    RawJson,
    SealwardError,
    type Client,
    type DataKeyCache,
    type Encrypted,
    type Jwe,
    type ProtectRequest,
    type RewrapRequest,
    type UnprotectRequest,
} from "sealward";

export type Json = Readonly<Record<string, unknown>>;

const BYTES = ["aad", "ciphertext", "iv", "tag", "signature"];

/** Performs a call and states its result. */
export async function perform(client: Client, cache: DataKeyCache | undefined, call: string, json: Json): Promise<unknown> {
    const given = read(json);
    const options = given as never;
    switch (call) {
        case "protect":
        case "protectOrPass":
            return client[call](given["payload"], options);
        case "unprotect":
        case "rewrap":
            return client[call]((given["jwe"] ?? given["protectedPayload"]) as Jwe | string, options);
        case "unprotectBytes":
            return { bytes: (await client.unprotect(given["jwe"] as Jwe, options)).bytes };
        case "protectBatch":
            return batch(await client.protectBatch(items(json) as unknown as ProtectRequest[]));
        case "unprotectBatch":
            return batch(await client.unprotectBatch(items(json) as UnprotectRequest[]));
        case "rewrapBatch":
            return batch(await client.rewrapBatch(items(json) as RewrapRequest[]));
        case "dataKey":
        case "cachedDataKey":
            return client[call](options);
        case "openDataKey":
            return { key: await client.openDataKey(given["jwe"] as Jwe, options) };
        case "dataKeyCacheCounters":
            return cache?.counters;
        case "encrypt":
        case "sign":
        case "hash":
            return client[call](given["data"], options);
        case "verify":
        case "verifyLocally":
            return { valid: await client[call](given["data"], options) };
        case "decrypt":
            return { dataJson: (await client.decrypt(given as unknown as Encrypted, options)).text };
        case "decryptBytes":
            return { bytes: await client.decryptBytes(given as unknown as Encrypted, options) };
        case "sealLocally":
            return sealed(await client.sealLocally(given["payload"], given["policyNumber"] as string, options));
        case "policy":
            return client.policy(given["policyNumber"] as string, options);
        case "jwks":
            return client.jwks(given["serviceId"] as string, options);
        case "caller":
        case "health":
            return client[call](options);
        default:
            throw new Error(`unknown call ${call}`);
    }
}

function read(json: Json): Json {
    return Object.fromEntries(Object.entries(json).map(([name, value]) => argument(name, value)));
}

function argument(name: string, value: unknown): [name: string, value: unknown] {
    const [, base = "", form] = /^(payload|data)(Json|Bytes|OfLength)$/.exec(name) ?? [];
    if (form === "Json") return [base, new RawJson(value as string)];
    if (form === "Bytes") return [base, decoded(value)];
    if (form === "OfLength") return [base, "x".repeat(value as number)];
    if (name === "deadlineSeconds") return ["deadlineMs", (value as number) * 1000];
    return [name, BYTES.includes(name) ? decoded(value) : value];
}

function items(json: Json): Json[] {
    const repeat = json["repeat"] as { count: number; item: Json } | undefined;
    return repeat ? new Array<Json>(repeat.count).fill(read(repeat.item)) : (json["items"] as Json[]).map(read);
}

function batch(results: readonly unknown[]): Json {
    const stated = results.map((result) => (result instanceof SealwardError ? { error: statedError(result) } : result));
    return { count: results.length, items: stated };
}

function sealed(jwe: Jwe): Json {
    const header = JSON.parse(Buffer.from(jwe.protected, "base64url").toString()) as Json;
    return { jwe, header, headerNames: Object.keys(header).sort() };
}

function decoded(value: unknown): Uint8Array {
    return new Uint8Array(Buffer.from(value as string, "base64"));
}

/** A result as JSON, with bytes in base64. */
export function stated(value: unknown): unknown {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
    if (value instanceof Plaintext) return { payloadJson: value.raw.text, requestId: value.requestId };
    if (value instanceof PassedThrough) {
        return { kind: value.kind, payloadJson: value.raw.text, warning: value.warning, requestId: value.requestId };
    }
    if (value instanceof DataKey) {
        return { key: value.key && stated(value.key), algorithm: value.algorithm, jwe: value.jwe };
    }
    if (Array.isArray(value)) return value.map(stated);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, stated(each)]));
}

/** An error as JSON. */
export function statedError(error: SealwardError): Json {
    const { code, status, requestId, details, retryable, retryAfterSeconds } = error;
    return { type: error.name, code, status, requestId, details, retryable, retryAfterSeconds };
}
