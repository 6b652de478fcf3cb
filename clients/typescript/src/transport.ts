/** How requests reach the service: with `fetch`, or with `node:https` for TLS settings that `fetch` does not have. */

import { readFileSync } from "node:fs";
import { Agent, request as httpsRequest } from "node:https";
import type { IncomingMessage } from "node:http";

import { WatchedFiles, type ClientCertificate } from "./credentials.js";
import { InvalidConfiguration } from "./errors.js";
import { Answer, type Headers, type Request } from "./exchange.js";

/** The connection broke before the answer was complete. The message is the reason. */
export class Broken extends Error {}

/** Sends a request once. Rejects with `Broken`, or with the reason of the signal. */
export type Transport = (url: string, request: Request, headers: Headers, signal: AbortSignal) => Promise<Answer>;

/** The global `fetch`. */
export const fetchTransport: Transport = async (url, request, headers, signal) => {
    try {
        const init: RequestInit = { method: request.method, headers, redirect: "manual", signal };
        if (request.body !== undefined) init.body = request.body;
        const response = await fetch(url, init);
        const body = new Uint8Array(await response.arrayBuffer());
        return new Answer(response.status, (name) => response.headers.get(name) ?? undefined, body);
    } catch (error) {
        signal.throwIfAborted();
        throw broken((error as Error).cause);
    }
};

/** A transport with a CA or a client certificate. It reads the certificate again when it changes. */
export function tlsTransport(caFile: string | undefined, certificate: ClientCertificate | undefined): Transport {
    const ca = caFile === undefined ? undefined : trusted(caFile);
    const files = certificate && new WatchedFiles(certificate.certificateFile, certificate.privateKeyFile);
    let agent: Agent | undefined;
    return (url, request, headers, signal) => {
        const read = files?.read();
        if (agent === undefined || read?.changed === true) {
            const [cert, key] = read?.contents ?? [];
            agent = new Agent({ keepAlive: true, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
        }
        return send(agent, url, request, headers, signal);
    };
}

function trusted(caFile: string): Buffer {
    try {
        return readFileSync(caFile);
    } catch (error) {
        throw new InvalidConfiguration(`cannot read the CA file ${caFile}: ${(error as NodeJS.ErrnoException).code ?? "error"}`);
    }
}

function send(agent: Agent, url: string, request: Request, headers: Headers, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
        const fail = (error: unknown): void => {
            reject(signal.aborted ? (signal.reason as Error) : broken(error));
        };
        const outgoing = httpsRequest(url, { agent, method: request.method, headers, signal }, (response) => {
            read(response).then(resolve, fail);
        });
        outgoing.on("error", fail);
        outgoing.end(request.body);
    });
}

async function read(response: IncomingMessage): Promise<Answer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of response) chunks.push(chunk as Uint8Array);
    const header = (name: string): string | undefined => response.headers[name]?.toString();
    return new Answer(response.statusCode ?? 0, header, Buffer.concat(chunks));
}

/** The text of an error can contain an answer; its code cannot. */
function broken(error: unknown): Broken {
    return new Broken((error as NodeJS.ErrnoException | undefined)?.code ?? "the connection broke");
}
