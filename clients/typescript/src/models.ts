/** The objects of the API. Their names are those of the OpenAPI document. */

import { UnexpectedAnswer } from "./errors.js";
import { decodeBase64, type Json, type Payload, type RawJson } from "./rawJson.js";

/* eslint-disable @typescript-eslint/consistent-type-definitions -- JOSE libraries accept only types for headers */

/** The public key that the creator of an envelope made for it. */
export type EphemeralKey = {
    readonly kty: string;
    readonly crv: string;
    readonly x: string;
    readonly y: string;
};

/** A header that the tag does not cover. Some JOSE libraries write it. */
export type UnprotectedHeader = {
    readonly epk: EphemeralKey;
};

/* eslint-enable @typescript-eslint/consistent-type-definitions */

/** An envelope: JWE in flattened JSON serialization. Store it unchanged. */
export interface Jwe {
    readonly protected: string;
    readonly encrypted_key: string;
    readonly iv: string;
    readonly ciphertext: string;
    readonly tag: string;
    readonly header?: UnprotectedHeader;
    readonly unprotected?: UnprotectedHeader;
}

/** What an envelope belongs to, for example a tenant and a record. */
export type Context = Readonly<Record<string, string>>;

/** A payload to protect. */
export interface ProtectRequest {
    readonly payload: Payload;
    readonly policyNumber?: string | undefined;
    readonly context?: Context | undefined;
}

/** An envelope to open: `jwe`, or the legacy string `protectedPayload`. */
export interface UnprotectRequest {
    readonly jwe?: Jwe | undefined;
    readonly protectedPayload?: string | undefined;
    readonly policyNumber?: string | undefined;
    readonly context?: Context | undefined;
}

/** An envelope to seal again, under `toPolicyNumber` and `toContext` if given. */
export interface RewrapRequest extends UnprotectRequest {
    readonly toPolicyNumber?: string | undefined;
    readonly toContext?: Context | undefined;
}

/** A data key to make. */
export interface DataKeyRequest {
    readonly policyNumber?: string | undefined;
    readonly context?: Context | undefined;
    readonly algorithm?: "AES-256" | "AES-128" | undefined;
    readonly plaintext?: boolean | undefined;
}

/** How bytes are encoded in a generic operation. */
export interface Encoded {
    readonly encoding?: "json" | "base64" | undefined;
}

/** What `encrypt` takes. */
export interface EncryptPayload extends Encoded {
    readonly data: Payload;
    readonly algorithm?: string | undefined;
    readonly keyId?: string | undefined;
    readonly aad?: Uint8Array | undefined;
}

/** What `encrypt` returns, and `decrypt` takes. */
export interface Encrypted {
    readonly ciphertext: Uint8Array;
    readonly iv: Uint8Array;
    readonly tag: Uint8Array;
    readonly algorithm: string;
    readonly keyId: string;
}

/** What `decrypt` takes. */
export interface DecryptPayload extends Encrypted, Encoded {
    readonly aad?: Uint8Array | undefined;
}

/** What `sign` takes. */
export interface SignPayload extends Encoded {
    readonly data: Payload;
    readonly algorithm: string;
    readonly keyId?: string | undefined;
    readonly prehashed?: boolean | undefined;
    readonly signatureFormat?: "p1363" | "der" | undefined;
}

/** What `verify` takes. */
export interface VerifyPayload extends SignPayload {
    readonly signature: Uint8Array;
    readonly keyId: string;
}

/** What `hash` takes. */
export interface HashPayload extends Encoded {
    readonly data: Payload;
    readonly algorithm?: string | undefined;
}

/** A protected payload. */
export interface Protected {
    readonly kind: "protected";
    readonly jwe: Jwe;
    readonly requestId: string;
}

/** A payload that the service discarded, because its policy is inactive. */
export interface Dropped {
    readonly kind: "dropped";
    readonly message: string;
    readonly requestId: string;
}

/** A payload that the service returned **unprotected**, because its policy is inactive. */
export class PassedThrough {
    readonly kind = "passedThrough";
    readonly warning: string;
    readonly requestId: string;
    readonly #raw: RawJson;

    constructor(raw: RawJson, warning: string, requestId: string) {
        this.#raw = raw;
        this.warning = warning;
        this.requestId = requestId;
    }

    /** The JSON text of the unprotected payload, exactly as it was sent. */
    get raw(): RawJson {
        return this.#raw;
    }

    /** The unprotected payload. */
    get value(): Json {
        return JSON.parse(this.#raw.text) as Json;
    }
}

/** An envelope with the same content under another key. */
export interface Rewrapped {
    readonly jwe: Jwe;
    readonly requestId: string;
}

/** An opened payload, in three forms. Logs and `JSON.stringify` show only the request ID. */
export class Plaintext {
    readonly requestId: string;
    readonly #raw: RawJson;

    constructor(raw: RawJson, requestId: string) {
        this.#raw = raw;
        this.requestId = requestId;
    }

    /** The JSON text exactly as it was protected. */
    get raw(): RawJson {
        return this.#raw;
    }

    /** The payload as a JavaScript value. Numbers above 2^53 and `1.0` lose their form: see `raw`. */
    get value(): Json {
        return JSON.parse(this.#raw.text) as Json;
    }

    /** The bytes of a payload that was protected as bytes. Throws `UnexpectedAnswer` for others. */
    get bytes(): Uint8Array {
        const bytes = decodeBase64(this.value);
        if (bytes === undefined) {
            throw new UnexpectedAnswer("the payload is not a base64 string", { requestId: this.requestId });
        }
        return bytes;
    }
}

/** A data key, and the envelope to store beside what it encrypts. Logs do not show the key. */
export class DataKey {
    readonly algorithm: string;
    readonly jwe: Jwe;
    readonly requestId: string;
    readonly #key: Uint8Array | undefined;

    constructor(algorithm: string, jwe: Jwe, key: Uint8Array | undefined, requestId: string) {
        this.algorithm = algorithm;
        this.jwe = jwe;
        this.#key = key;
        this.requestId = requestId;
    }

    /** The key, unless it was made with `plaintext: false`. */
    get key(): Uint8Array | undefined {
        return this.#key;
    }

    /** Overwrites the key. */
    wipe(): void {
        this.#key?.fill(0);
    }

    /** A copy, with a key of its own. */
    copy(): DataKey {
        return new DataKey(this.algorithm, this.jwe, this.#key?.slice(), this.requestId);
    }
}

/** What `sign` returns. */
export interface Signature {
    readonly signature: Uint8Array;
    readonly algorithm: string;
    readonly keyId: string;
}

/** What `hash` returns. */
export interface Digest {
    readonly hash: Uint8Array;
    readonly algorithm: string;
}

/** A rate limit. */
export interface RateLimit {
    readonly requestsPerSecond: number;
    readonly burst: number;
}

/** How a caller authenticated. */
export interface Credential {
    readonly type: string;
    readonly id: string;
}

/** Who the caller is and what it can do. `allowedOperations` is null for all. */
export interface CallerIdentity {
    readonly serviceId: string;
    readonly credential: Credential;
    readonly policyNumber: string | null;
    readonly allowedOperations: readonly string[] | null;
    readonly rateLimit: RateLimit;
}

/** A public key. */
export interface PublishedJwk {
    readonly kty: string;
    readonly kid: string;
    readonly use: string;
    readonly alg: string;
    readonly n?: string;
    readonly e?: string;
    readonly crv?: string;
    readonly x?: string;
    readonly y?: string;
    readonly pub?: string;
}

/** The public keys of a service. */
export interface JwkSet {
    readonly keys: readonly PublishedJwk[];
}

/** The header members that a partner wants. */
export interface EnvelopeHeaders {
    readonly typ?: string | null;
    readonly iat?: boolean;
    readonly cty?: string | null;
}

/** A policy under which the caller can protect, with the key for new envelopes. */
export interface PolicySummary {
    readonly id: string;
    readonly policyNumber: string;
    readonly status: string;
    readonly failureMode: string;
    readonly keyOwnership: string;
    readonly alg: string;
    readonly enc: string;
    readonly contextRequired: boolean;
    readonly requireBinding: boolean;
    readonly headers: EnvelopeHeaders | null;
    readonly key: PublishedJwk | null;
}

/** The state of a part of the service. */
export interface HealthStatus {
    readonly status: string;
}

/** The state of the database. */
export interface HealthDatabase extends HealthStatus {
    readonly latencyMs?: number | null;
}

/** The state of a token. */
export interface HealthToken extends HealthStatus {
    readonly label: string;
    readonly workers: number;
    readonly configuredWorkers: number;
}

/** The state of the tokens. */
export interface HealthHsm extends HealthStatus {
    readonly latencyMs?: number | null;
    readonly tokens: readonly HealthToken[];
    readonly missingKeys?: readonly string[];
    readonly wornKeys?: readonly string[];
}

/** The state of the audit log. */
export interface HealthAudit extends HealthStatus {
    readonly queued: number;
}

/** The state of the rate limiter. */
export type HealthRateLimiter = HealthStatus;

/** The state of the rows of the database. */
export type HealthRecords = HealthStatus;

/** The state of each part. */
export interface HealthChecks {
    readonly database: HealthDatabase;
    readonly hsm: HealthHsm;
    readonly audit: HealthAudit;
    readonly rateLimiter: HealthRateLimiter;
    readonly records: HealthRecords;
}

/** The state of the service: `ok`, `degraded` or `unavailable`. */
export interface Health extends HealthStatus {
    readonly version: string;
    readonly timestamp: string;
    readonly checks: HealthChecks;
}
