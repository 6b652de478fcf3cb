/** The options of the client and of its calls. */

import type { ClientCertificate, CredentialProvider } from "./credentials.js";
import type { DataKeyCache } from "./dataKeys.js";
import type { CallOptions } from "./exchange.js";
import type { Progress } from "./files.js";
import type { Context, Jwe } from "./models.js";

/** How to make a client. */
export interface ClientOptions {
    /** The address of the service. */
    readonly url: string;
    /** An API key, `ApiKeyFile`, `TokenFile`, or a provider of your own. */
    readonly credential?: string | CredentialProvider | undefined;
    /** A client certificate, beside the credential or alone. */
    readonly certificate?: ClientCertificate | undefined;
    /** The CA of the service in PEM, instead of those of Node.js. */
    readonly caFile?: string | undefined;
    /** The milliseconds for a call with all its attempts. Default: 30,000. */
    readonly deadlineMs?: number | undefined;
    /** The number of attempts. Default: 3. */
    readonly maxAttempts?: number | undefined;
    /** The longest wait that the service can ask for. Default: 10,000. */
    readonly maxRetryAfterMs?: number | undefined;
    /**
     * Allows `http://` also to other machines, for example to a proxy in the same pod. Whoever reads the network then reads the
     * credential and the payloads. Default: `false`.
     */
    readonly allowPlaintext?: boolean | undefined;
    /** A cache of data keys. Default: none. */
    readonly dataKeyCache?: DataKeyCache | undefined;
}

/** Which policy and which context. */
export interface PolicyOptions extends CallOptions {
    readonly policyNumber?: string | undefined;
    readonly context?: Context | undefined;
}

/** Where an envelope goes. */
export interface RewrapOptions extends PolicyOptions {
    readonly toPolicyNumber?: string | undefined;
    readonly toContext?: Context | undefined;
}

/** What a file needs. */
export interface FileOptions extends PolicyOptions {
    readonly progress?: Progress | undefined;
}

/** A data key for a message of `bytes` bytes. */
export interface CachedDataKeyOptions extends PolicyOptions {
    readonly algorithm?: "AES-256" | "AES-128" | undefined;
    readonly bytes?: number | undefined;
}

/** An envelope, or the legacy string `protectedPayload`. */
export type Sealed = Jwe | string;
