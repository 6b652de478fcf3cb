/** Credentials: where a client finds them for each request. */

import { readFileSync, statSync } from "node:fs";

import { CredentialUnavailable, InvalidConfiguration } from "./errors.js";

/** Something that authenticates requests. An object of your own can implement it. */
export interface CredentialProvider {
    /** The value of the header `Authorization` for the next request. */
    authorization(): string | Promise<string>;
}

/** An API key. Logs do not show it. */
export class ApiKey implements CredentialProvider {
    readonly #secret: string;

    constructor(secret: string) {
        this.#secret = secret;
    }

    /** The value of the header `Authorization`. */
    authorization(): string {
        return bearer(this.#secret, "the API key");
    }
}

/** The content of files, read again when one of them changes. */
export class WatchedFiles {
    readonly #paths: readonly string[];
    #stamp = "";
    #contents: readonly string[] = [];

    constructor(...paths: readonly string[]) {
        this.#paths = paths;
    }

    /** The present contents, and whether they changed since the last call. Throws `CredentialUnavailable`. */
    read(): { contents: readonly string[]; changed: boolean } {
        try {
            const stamp = this.#paths.map(stampOf).join();
            const changed = stamp !== this.#stamp;
            if (changed) {
                this.#contents = this.#paths.map((path) => readFileSync(path, "utf8"));
                this.#stamp = stamp;
            }
            return { contents: this.#contents, changed };
        } catch (error) {
            const code = (error as NodeJS.ErrnoException).code ?? "error";
            throw new CredentialUnavailable(`cannot read ${this.#paths.join(" and ")}: ${code}`);
        }
    }
}

function stampOf(path: string): string {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return [mtimeNs, size, ino].join(":");
}

/** A secret in a file, which is read again when it changes. */
class SecretFile implements CredentialProvider {
    readonly path: string;
    readonly #file: WatchedFiles;

    constructor(path: string) {
        this.path = path;
        this.#file = new WatchedFiles(path);
    }

    /** The value of the header `Authorization`. */
    authorization(): string {
        const [content = ""] = this.#file.read().contents;
        return bearer(content.trim(), `the content of ${this.path}`);
    }
}

/** An API key in a file, which is read again when it changes. */
export class ApiKeyFile extends SecretFile {}

/** A JWT in a file, which is read again when it changes, for example a projected token. */
export class TokenFile extends SecretFile {}

/** A client certificate and its private key in PEM files, which are read again when they change. */
export interface ClientCertificate {
    readonly certificateFile: string;
    readonly privateKeyFile: string;
}

/** The credential that the environment names. Throws `InvalidConfiguration` if that is not exactly one. */
export function credentialOf(environment: Environment): CredentialProvider {
    const { SEALWARD_API_KEY, SEALWARD_API_KEY_FILE, SEALWARD_TOKEN_FILE } = environment;
    const found: CredentialProvider[] = [];
    if (SEALWARD_API_KEY) found.push(new ApiKey(SEALWARD_API_KEY));
    if (SEALWARD_API_KEY_FILE) found.push(new ApiKeyFile(SEALWARD_API_KEY_FILE));
    if (SEALWARD_TOKEN_FILE) found.push(new TokenFile(SEALWARD_TOKEN_FILE));
    const [only] = found;
    if (only === undefined || found.length > 1) {
        throw new InvalidConfiguration("set exactly one of SEALWARD_API_KEY, SEALWARD_API_KEY_FILE and SEALWARD_TOKEN_FILE");
    }
    return only;
}

/** Variables, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

function bearer(secret: string, what: string): string {
    if (secret === "") throw new CredentialUnavailable(`${what} is empty`);
    if (!/^[!-~]+$/.test(secret)) {
        throw new CredentialUnavailable(`${what} is not a credential: it contains spaces, line breaks or other characters`);
    }
    return `Bearer ${secret}`;
}
