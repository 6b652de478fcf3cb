/** The client. */

import { stat } from "node:fs/promises";

import * as answers from "./answers.js";
import { batches } from "./batches.js";
import { signedBytes } from "./canonical.js";
import { Connection } from "./connection.js";
import { ApiKey, credentialOf, type Environment } from "./credentials.js";
import type { DataKeyCache } from "./dataKeys.js";
import { encode } from "./encoding.js";
import { InvalidConfiguration, KeyUnavailable, UnexpectedAnswer, type SealwardError } from "./errors.js";
import type { CallOptions, Part } from "./exchange.js";
import { contentOf, counted, writeBeside } from "./files.js";
import { Lookups } from "./lookups.js";
import { DataKey } from "./models.js";
import type * as models from "./models.js";
import type { CachedDataKeyOptions, ClientOptions, FileOptions, PolicyOptions, RewrapOptions, Sealed } from "./options.js";
import type { Payload, RawJson } from "./rawJson.js";
import * as requests from "./requests.js";
import { encrypted, opened } from "./sealedFiles.js";
import { seal } from "./sealing.js";
import { findKey, isValid, requireSupported } from "./signatures.js";

/**
 * A client of the runtime API.
 *
 * Each call takes options with `requestId`, which the service logs, `deadlineMs` and `signal`. A call rejects with
 * a `SealwardError`, or with the reason of `signal`.
 */
export class Client {
    readonly #connection: Connection;
    readonly #cache: DataKeyCache | undefined;
    readonly #policies = new Lookups<models.PolicySummary>();
    readonly #keySets = new Lookups<models.JwkSet>();

    constructor(options: ClientOptions) {
        const { url, credential, certificate, caFile, allowPlaintext = false } = options;
        const { deadlineMs = 30_000, maxAttempts = 3, maxRetryAfterMs = 10_000 } = options;
        const provider = typeof credential === "string" ? new ApiKey(credential) : credential;
        const limits = { deadlineMs, maxAttempts, maxRetryAfterMs };
        this.#connection = new Connection({ url, credential: provider, certificate, caFile, allowPlaintext }, limits);
        this.#cache = options.dataKeyCache;
    }

    /** A client from `SEALWARD_URL`, the variable of a credential, and `SEALWARD_CA_FILE`. */
    static fromEnvironment(environment: Environment = process.env, options: Partial<ClientOptions> = {}): Client {
        const { SEALWARD_URL: url, SEALWARD_CA_FILE: caFile } = environment;
        if (!url) throw new InvalidConfiguration("SEALWARD_URL is not set");
        return new Client({ url, credential: credentialOf(environment), caFile, ...options });
    }

    /**
     * Protects a payload. Rejects with `NotProtected` under an inactive policy.
     *
     * Rejects with `InvalidRequest` for what JSON cannot represent: `undefined`, `NaN`, infinity, a BigInt, a function, and an object
     * without members of its own, such as a Map, a Set or a Promise.
     */
    async protect(payload: Payload, options: PolicyOptions = {}): Promise<models.Protected> {
        const result = answers.onlyProtected(await this.protectOrPass(payload, options));
        if (result instanceof Error) throw result;
        return result;
    }

    /** Protects a payload, or does what the failure mode of an inactive policy says. */
    protectOrPass(
        payload: Payload,
        options: PolicyOptions = {},
    ): Promise<models.Protected | models.PassedThrough | models.Dropped> {
        return this.#connection.call(options, async (ask) =>
            answers.readProtected(await ask(requests.post("/protect", requests.protectBody({ payload, ...options })))),
        );
    }

    /** Opens an envelope. */
    unprotect(sealed: Sealed, options: PolicyOptions = {}): Promise<models.Plaintext> {
        return this.#connection.call(options, async (ask) => {
            const body = requests.unprotectBody({ ...requests.formOf(sealed), ...options });
            return answers.readPlaintext(await ask(requests.post("/unprotect", body, true)));
        });
    }

    /** Seals the content of an envelope again, for example under the newest key. */
    rewrap(sealed: Sealed, options: RewrapOptions = {}): Promise<models.Rewrapped> {
        return this.#connection.call(options, async (ask) => {
            const body = requests.rewrapBody({ ...requests.formOf(sealed), ...options });
            return answers.readRewrapped(await ask(requests.post("/rewrap", body, true)));
        });
    }

    /** Protects many payloads. Each result is an envelope or an error, in the order of the items. */
    protectBatch(
        items: Iterable<models.ProtectRequest>,
        options: CallOptions = {},
    ): Promise<(models.Protected | SealwardError)[]> {
        const read = (part: Part): models.Protected | SealwardError => answers.onlyProtected(answers.readProtected(part));
        return this.#batch("/protect/batch", map(items, requests.protectBody), options, false, read);
    }

    /** Opens many envelopes. Each result is a plaintext or an error, in the order of the items. */
    unprotectBatch(
        items: Iterable<models.UnprotectRequest>,
        options: CallOptions = {},
    ): Promise<(models.Plaintext | SealwardError)[]> {
        const bodies = map(items, requests.unprotectBody);
        return this.#batch("/unprotect/batch", bodies, options, true, answers.readPlaintext);
    }

    /** Seals many envelopes again. Each result is an envelope or an error, in the order of the items. */
    rewrapBatch(
        items: Iterable<models.RewrapRequest>,
        options: CallOptions = {},
    ): Promise<(models.Rewrapped | SealwardError)[]> {
        return this.#batch("/rewrap/batch", map(items, requests.rewrapBody), options, true, answers.readRewrapped);
    }

    /** Makes a data key. With `plaintext: false`, the result has only the envelope. */
    dataKey(options: models.DataKeyRequest & CallOptions = {}): Promise<models.DataKey> {
        const { policyNumber, context, algorithm, plaintext } = options;
        const body = requests.toJson({ policyNumber, context, algorithm, plaintext });
        return this.#connection.call(options, async (ask) =>
            answers.readDataKey(await ask(requests.post("/data-keys", body))),
        );
    }

    /** A data key for a message of `bytes` bytes, from the cache if the client has one. */
    cachedDataKey(options: CachedDataKeyOptions = {}): Promise<models.DataKey> {
        const { policyNumber, context, algorithm, bytes = 0, requestId, deadlineMs, signal } = options;
        const make = (): Promise<DataKey> => this.dataKey({ policyNumber, context, algorithm, requestId, deadlineMs, signal });
        return this.#cached(["made", policyNumber, sorted(context), algorithm], bytes, make);
    }

    /** The data key in an envelope, from the cache if the client has one. */
    async openDataKey(jwe: models.Jwe, options: PolicyOptions = {}): Promise<Uint8Array> {
        const { policyNumber, context } = options;
        const key = await this.#cached(["opened", policyNumber, sorted(context), sorted(jwe)], 0, async () => {
            const { bytes, requestId } = await this.unprotect(jwe, options);
            return new DataKey("", jwe, bytes, requestId);
        });
        return keyOf(key);
    }

    /** Encrypts a file. The target appears when it is complete. The deadline covers only the request. */
    async encryptFile(source: string, target: string, options: FileOptions = {}): Promise<void> {
        const { size } = await stat(source);
        const content = counted(contentOf(source), options.progress);
        await writeBeside(target, this.encryptStream(content, { ...options, bytes: size }));
    }

    /**
     * Decrypts a file. The target appears when the last segment is authentic. Rejects with `MalformedFile`, or with
     * `FileNotAuthentic` if the file was truncated, extended or changed. It then leaves no target.
     */
    async decryptFile(source: string, target: string, options: FileOptions = {}): Promise<void> {
        await writeBeside(target, counted(this.decryptStream(contentOf(source), options), options.progress));
    }

    /** Encrypts a stream, for example in `pipeline`. `bytes` is the expected length, for the limits of the cache. */
    async *encryptStream(
        source: AsyncIterable<Uint8Array>,
        options: PolicyOptions & { readonly bytes?: number } = {},
    ): AsyncGenerator<Uint8Array, void, undefined> {
        const key = await this.cachedDataKey({ ...options, algorithm: "AES-256" });
        try {
            yield* encrypted(source, key.jwe, keyOf(key));
        } finally {
            key.wipe();
        }
    }

    /**
     * Decrypts a stream. Each part is authentic. A cut end throws `FileNotAuthentic` only at the end, so do not act
     * on the content before you have all of it.
     */
    async *decryptStream(
        source: AsyncIterable<Uint8Array>,
        options: PolicyOptions = {},
    ): AsyncGenerator<Uint8Array, void, undefined> {
        const file = await opened(source);
        const key = await this.openDataKey(file.jwe, options);
        try {
            yield* file.decrypt(key);
        } finally {
            key.fill(0);
        }
    }

    /** Encrypts with a key of the calling service. */
    encrypt(data: Payload, options: Omit<models.EncryptPayload, "data"> & CallOptions = {}): Promise<models.Encrypted> {
        const { algorithm = "AES-256-GCM", keyId, aad } = options;
        return this.#operation("encrypt", { data, algorithm, keyId, aad }, options, (part) =>
            answers.readResult<models.Encrypted>(part, ["ciphertext", "iv", "tag"], ["algorithm", "keyId"]),
        );
    }

    /** Decrypts what `encrypt` returned for a JSON value. */
    decrypt(sealed: models.Encrypted, options: CallOptions & { readonly aad?: Uint8Array } = {}): Promise<RawJson> {
        const { ciphertext, iv, tag, algorithm, keyId } = sealed;
        const payload = { ciphertext, iv, tag, algorithm, keyId, aad: options.aad };
        return this.#operation("decrypt", payload, options, (part) => part.raw("result", "data"));
    }

    /** Decrypts what `encrypt` returned, as bytes. */
    decryptBytes(sealed: models.Encrypted, options: CallOptions & { readonly aad?: Uint8Array } = {}): Promise<Uint8Array> {
        const { ciphertext, iv, tag, algorithm, keyId } = sealed;
        const payload = { ciphertext, iv, tag, algorithm, keyId, aad: options.aad, encoding: "base64" };
        return this.#operation("decrypt", payload, options, (part) =>
            answers.readResult<{ data: Uint8Array }>(part, ["data"], []).data,
        );
    }

    /** Signs with a key of the calling service. */
    sign(data: Payload, options: Omit<models.SignPayload, "data"> & CallOptions): Promise<models.Signature> {
        const { algorithm, keyId, prehashed, signatureFormat } = options;
        return this.#operation("sign", { data, algorithm, keyId, prehashed, signatureFormat }, options, (part) =>
            answers.readResult<models.Signature>(part, ["signature"], ["algorithm", "keyId"]),
        );
    }

    /** Whether the signature is valid. */
    verify(data: Payload, options: Omit<models.VerifyPayload, "data"> & CallOptions): Promise<boolean> {
        const { signature, algorithm, keyId, prehashed, signatureFormat } = options;
        const payload = { data, signature, algorithm, keyId, prehashed, signatureFormat };
        return this.#operation("verify", payload, options, (part) => {
            const { valid } = answers.readResult<{ valid: unknown }>(part, [], ["valid"]);
            if (typeof valid !== "boolean") throw part.unexpected("valid is not true or false");
            return valid;
        });
    }

    /** Hashes data. */
    hash(data: Payload, options: Omit<models.HashPayload, "data"> & CallOptions = {}): Promise<models.Digest> {
        const { algorithm = "SHA-256" } = options;
        return this.#operation("hash", { data, algorithm }, options, (part) =>
            answers.readResult<models.Digest>(part, ["hash"], ["algorithm"]),
        );
    }

    /**
     * Protects a payload in this process, with a policy looked up at most 60 s ago.
     *
     * The service does not record or limit this, and a freeze does not stop it. Rejects with `UnsupportedAlgorithm`,
     * `PolicyNotActive`, `Frozen`, `ContextRequired` or `KeyUnavailable` where it is not possible. It never sends the
     * payload to the service.
     */
    async sealLocally(payload: Payload, policyNumber: string, options: CallOptions = {}): Promise<models.Jwe> {
        const { result } = await this.#policies.get(policyNumber, () => this.policy(policyNumber, options));
        return seal(result, new TextEncoder().encode(encode(payload)));
    }

    /** Whether the signature is valid, checked with the keys that the service publishes. */
    async verifyLocally(
        data: Payload,
        options: Omit<models.VerifyPayload, "data"> & CallOptions & { readonly serviceId: string },
    ): Promise<boolean> {
        const request = { ...options, data };
        requireSupported(request);
        const signed = signedBytes(data);
        const { serviceId } = options;
        const lookUp = (): Promise<models.JwkSet> => this.jwks(serviceId, options);
        const known = await this.#keySets.get(serviceId, lookUp);
        let key = findKey(known.result, request);
        if (key === undefined && !known.fresh) {
            this.#keySets.forget(serviceId);
            key = findKey((await this.#keySets.get(serviceId, lookUp)).result, request);
        }
        if (key === undefined) {
            throw new KeyUnavailable(`the service publishes no key ${options.keyId} for ${options.algorithm}`);
        }
        return isValid(key, request, signed);
    }

    /** Who the caller is and what it can do. */
    caller(options: CallOptions = {}): Promise<models.CallerIdentity> {
        return this.#connection.call(options, async (ask) => answers.readCaller(await ask(requests.get("/caller"))));
    }

    /** A policy under which the caller can protect. */
    policy(policyNumber: string, options: CallOptions = {}): Promise<models.PolicySummary> {
        const request = requests.get(`/policies/${encodeURIComponent(policyNumber)}`);
        return this.#connection.call(options, async (ask) => answers.readPolicy(await ask(request)));
    }

    /** The state of the service, also if it is unavailable. */
    health(options: CallOptions = {}): Promise<models.Health> {
        const request = { ...requests.get("/health"), resultStatus: 503 };
        return this.#connection.call(options, async (ask) => answers.readHealth(await ask(request)));
    }

    /** The public keys of a service that publishes them. Needs no credential. */
    jwks(serviceId: string, options: CallOptions = {}): Promise<models.JwkSet> {
        return this.#connection.call(options, async (ask) => answers.readKeys(await ask(requests.getKeys(serviceId))));
    }

    #operation<T>(
        name: string,
        payload: Readonly<Record<string, unknown>>,
        options: CallOptions,
        read: (part: Part) => T,
    ): Promise<T> {
        return this.#connection.call(options, async (ask) => read(await ask(requests.operation(name, payload))));
    }

    #batch<T>(
        path: string,
        items: Iterable<string>,
        options: CallOptions,
        opening: boolean,
        read: (part: Part) => T,
    ): Promise<(T | SealwardError)[]> {
        return this.#connection.call(options, async (ask) => {
            const results: (T | SealwardError)[] = [];
            for (const { body, count } of batches(items)) {
                const part = await ask(requests.post(path, body, opening));
                for (const item of part.items(count)) results.push(answers.readItem(item, opening, read));
            }
            return results;
        });
    }

    #cached(name: readonly unknown[], bytes: number, make: () => Promise<DataKey>): Promise<DataKey> {
        return this.#cache === undefined ? make() : this.#cache.get(JSON.stringify(name), bytes, make);
    }
}

function keyOf(key: DataKey): Uint8Array {
    if (key.key === undefined) throw new UnexpectedAnswer("the answer has no key", { requestId: key.requestId });
    return key.key;
}

function sorted(object: object | undefined): unknown {
    return object && Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));
}

function* map<T>(items: Iterable<T>, change: (item: T) => string): Generator<string> {
    for (const item of items) yield change(item);
}
