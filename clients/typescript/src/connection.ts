/** Sends the requests of a call until one has a result. */

import type { ClientCertificate, CredentialProvider } from "./credentials.js";
import { ConnectionFailed, CredentialUnavailable, InvalidConfiguration } from "./errors.js";
import { headersOf, type Answer, type CallOptions, type Part, type Request } from "./exchange.js";
import { Deadline, waitAfter, type Limits } from "./retries.js";
import { Broken, fetchTransport, tlsTransport, type Transport } from "./transport.js";

const THIS_MACHINE = /^(localhost|\[::1\]|127(\.\d+){3})$/;

/** Sends a request of a call and returns its result. */
export type Ask = (request: Request) => Promise<Part>;

/** Where the service is and how a client reaches it. */
export interface Destination {
    readonly url: string;
    readonly credential: CredentialProvider | undefined;
    readonly certificate: ClientCertificate | undefined;
    readonly caFile: string | undefined;
    readonly allowPlaintext: boolean;
}

/** A service, as a client reaches it. */
export class Connection {
    readonly url: string;
    /** The scheme, the host and the port of the address. */
    readonly #origin: string;
    readonly #credential: CredentialProvider | undefined;
    readonly #hasCertificate: boolean;
    readonly #limits: Limits;
    readonly #transport: Transport;

    constructor(destination: Destination, limits: Limits) {
        const { url, credential, certificate, caFile, allowPlaintext } = destination;
        const { protocol, hostname, origin } = parsed(url);
        if (protocol === "http:" && !allowPlaintext && !THIS_MACHINE.test(hostname)) {
            throw new InvalidConfiguration(`${origin} must begin with https://, except for this machine`);
        }
        this.url = url.replace(/\/+$/, "");
        this.#origin = origin;
        this.#credential = credential;
        this.#hasCertificate = certificate !== undefined;
        this.#limits = limits;
        this.#transport = certificate || caFile ? tlsTransport(caFile, certificate) : fetchTransport;
    }

    /** Performs a call. All its requests share one deadline. */
    async call<T>(options: CallOptions, steps: (ask: Ask) => Promise<T>): Promise<T> {
        const deadline = new Deadline(this.#limits, options);
        try {
            return await steps((request) => this.#ask(request, options.requestId, deadline));
        } finally {
            deadline.end();
        }
    }

    async #ask(request: Request, requestId: string | undefined, deadline: Deadline): Promise<Part> {
        for (let attempts = 1; ; attempts += 1) {
            const outcome = await this.#attempt(request, requestId, deadline);
            const failed = outcome instanceof ConnectionFailed;
            const part = failed ? undefined : outcome.result(request);
            if (part !== undefined) return part;
            const wait = waitAfter(outcome, attempts, this.#limits, deadline);
            if (wait === undefined) throw failed ? outcome : outcome.error(request);
            await deadline.wait(wait);
        }
    }

    async #attempt(
        request: Request,
        requestId: string | undefined,
        { signal }: Deadline,
    ): Promise<Answer | ConnectionFailed> {
        signal.throwIfAborted();
        const authorization = request.anonymous === true ? undefined : await this.#authorization();
        try {
            return await this.#transport(
                this.url + request.path,
                request,
                headersOf(request, authorization, requestId),
                signal,
            );
        } catch (error) {
            if (error instanceof Broken) return new ConnectionFailed(`no complete answer from ${this.#origin}: ${error.message}`);
            throw error;
        }
    }

    async #authorization(): Promise<string | undefined> {
        if (this.#credential !== undefined) return this.#credential.authorization();
        if (this.#hasCertificate) return undefined;
        throw new CredentialUnavailable("the client has neither a credential nor a client certificate");
    }
}

function parsed(address: string): URL {
    let url: URL | undefined;
    try {
        url = new URL(address);
    } catch {
        // The error contains the address, which can contain a password.
    }
    if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
        throw new InvalidConfiguration("the address of the service is not an http or https address");
    }
    if (url.username || url.password || url.search || url.hash) {
        throw new InvalidConfiguration("the address of the service has credentials, a query or a fragment");
    }
    return url;
}
