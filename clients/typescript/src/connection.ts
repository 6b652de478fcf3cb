/** Sends the requests of a call until one has a result. */

import type { ClientCertificate, CredentialProvider } from "./credentials.js";
import { ConnectionFailed, CredentialUnavailable } from "./errors.js";
import { headersOf, type Answer, type CallOptions, type Part, type Request } from "./exchange.js";
import { Deadline, waitAfter, type Limits } from "./retries.js";
import { fetchTransport, tlsTransport, type Transport } from "./transport.js";

/** Sends a request of a call and returns its result. */
export type Ask = (request: Request) => Promise<Part>;

/** Where the service is and how a client reaches it. */
export interface Destination {
    readonly url: string;
    readonly credential: CredentialProvider | undefined;
    readonly certificate: ClientCertificate | undefined;
    readonly caFile: string | undefined;
}

/** A service, as a client reaches it. */
export class Connection {
    readonly url: string;
    readonly #credential: CredentialProvider | undefined;
    readonly #hasCertificate: boolean;
    readonly #limits: Limits;
    readonly #transport: Transport;

    constructor(destination: Destination, limits: Limits) {
        const { url, credential, certificate, caFile } = destination;
        this.url = url.replace(/\/+$/, "");
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
            if (error instanceof ConnectionFailed) return error;
            throw error;
        }
    }

    async #authorization(): Promise<string | undefined> {
        if (this.#credential !== undefined) return this.#credential.authorization();
        if (this.#hasCertificate) return undefined;
        throw new CredentialUnavailable("the client has neither a credential nor a client certificate");
    }
}
