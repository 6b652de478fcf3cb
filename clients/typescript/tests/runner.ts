/** The runner of the conformance cases. */

import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import { context, trace } from "@opentelemetry/api";
import {
    ApiKey,
    ApiKeyFile,
    Client,
    DataKeyCache,
    InvalidConfiguration,
    SealwardError,
    TokenFile,
    type ClientOptions,
    type CredentialProvider,
} from "sealward";

import { perform, stated, statedError, type Json } from "./calls.js";
import type { Server } from "./server.js";

interface Step {
    readonly call: string;
    readonly arguments: Json;
    readonly use?: Readonly<Record<string, readonly [number, string]>>;
    readonly concurrent?: number;
    readonly write?: string;
}

interface CredentialWanted {
    readonly apiKey?: string;
    readonly apiKeyFile?: string;
    readonly tokenFile?: string;
    readonly certificate?: boolean;
}

interface ClientWanted {
    readonly credential?: CredentialWanted;
    readonly environment?: Readonly<Record<string, string>>;
    readonly caFile?: null;
    readonly allowPlaintext?: boolean;
    readonly deadlineSeconds?: number;
    readonly maxAttempts?: number;
    readonly maxRetryAfterSeconds?: number;
    readonly traceparent?: string;
    readonly dataKeyCache?: { readonly maxAgeSeconds: number; readonly maxMessages: number; readonly maxBytes: number };
}

interface Case {
    readonly tls?: boolean;
    readonly client: ClientWanted;
    readonly steps: readonly Step[];
}

interface Session {
    readonly session: number;
    readonly url: string;
    readonly case: Case;
    readonly caFile: string;
    readonly certificateFile: string;
    readonly certificateKeyFile: string;
}

interface Outcome {
    readonly result?: unknown;
    readonly error?: Json;
    readonly seconds: number;
}

/** Runs a case and returns its problems. */
export async function run(server: Server, name: string): Promise<readonly string[]> {
    const session = await server.post<Session>(`start/typescript/${name}`, null);
    const report = await new Run(session).report();
    const verdict = await server.post<{ problems: readonly string[] }>(`finish/${session.session}`, report);
    return verdict.problems;
}

class Run {
    readonly #session: Session;
    readonly #outcomes: Outcome[] = [];
    readonly #texts: string[] = [];
    #file = "";
    #cache: DataKeyCache | undefined;

    constructor(session: Session) {
        this.#session = session;
    }

    async report(): Promise<Json> {
        this.#file = join(await mkdtemp(join(tmpdir(), "case-")), "credential");
        try {
            const client = await this.#client(this.#session.case.client);
            this.#keepText(client);
            await this.#steps(client);
        } catch (error) {
            if (!(error instanceof InvalidConfiguration)) throw error;
            this.#keepText(error);
            this.#outcomes.push({ error: statedError(error), seconds: 0 });
        }
        return { outcomes: this.#outcomes, texts: this.#texts };
    }

    async #steps(client: Client): Promise<void> {
        await withSpan(this.#session.case.client.traceparent, async () => {
            for (const step of this.#session.case.steps) {
                if (step.write === undefined) await this.#step(client, step);
                else await this.#write(step.write);
            }
        });
    }

    async #step(client: Client, step: Step): Promise<void> {
        const calls = Array.from({ length: step.concurrent ?? 1 }, () => this.#call(client, step));
        this.#outcomes.push(...(await Promise.all(calls)));
    }

    async #call(client: Client, step: Step): Promise<Outcome> {
        const began = performance.now();
        const seconds = (): number => (performance.now() - began) / 1000;
        const used = Object.entries(step.use ?? {}).map(([name, [number, member]]) => [
            name,
            (this.#outcomes[number]?.result as Json)[member],
        ]);
        try {
            const given = { ...step.arguments, ...(Object.fromEntries(used) as Json) };
            const result = await perform(client, this.#cache, step.call, given);
            this.#keepText(result);
            return { result: stated(result), seconds: seconds() };
        } catch (error) {
            if (!(error instanceof SealwardError)) throw error;
            this.#keepText(error);
            return { error: statedError(error), seconds: seconds() };
        }
    }

    async #client(wanted: ClientWanted): Promise<Client> {
        if (wanted.environment !== undefined) {
            const filled = Object.entries(wanted.environment).map(async ([name, text]) => [name, await this.#filled(text)]);
            return Client.fromEnvironment(Object.fromEntries(await Promise.all(filled)) as Record<string, string>);
        }
        const { caFile, certificateFile, certificateKeyFile, url } = this.#session;
        const cache = wanted.dataKeyCache;
        if (cache) {
            const { maxAgeSeconds, maxMessages, maxBytes } = cache;
            this.#cache = new DataKeyCache({ maxAgeMs: maxAgeSeconds * 1000, maxMessages, maxBytes });
        }
        const options: ClientOptions = {
            url,
            credential: await this.#credential(wanted.credential ?? {}),
            certificate: wanted.credential?.certificate
                ? { certificateFile, privateKeyFile: certificateKeyFile }
                : undefined,
            caFile: this.#session.case.tls && wanted.caFile !== null ? caFile : undefined,
            deadlineMs: milliseconds(wanted.deadlineSeconds),
            maxRetryAfterMs: milliseconds(wanted.maxRetryAfterSeconds),
            maxAttempts: wanted.maxAttempts,
            dataKeyCache: this.#cache,
            allowPlaintext: wanted.allowPlaintext,
        };
        return new Client(options);
    }

    async #credential(wanted: CredentialWanted): Promise<CredentialProvider | undefined> {
        let credential: CredentialProvider | undefined;
        if (wanted.apiKey !== undefined) credential = new ApiKey(wanted.apiKey);
        if (wanted.apiKeyFile !== undefined) credential = new ApiKeyFile(await this.#write(wanted.apiKeyFile));
        if (wanted.tokenFile !== undefined) credential = new TokenFile(await this.#write(wanted.tokenFile));
        this.#keepText(credential);
        return credential;
    }

    async #filled(text: string): Promise<string> {
        const [, content] = /^\{file:(.*)\}$/.exec(text) ?? [];
        if (content !== undefined) return this.#write(content);
        return text.replace("{url}", this.#session.url).replace("{caFile}", this.#session.caFile);
    }

    async #write(text: string): Promise<string> {
        await writeFile(`${this.#file}.new`, text);
        await rename(`${this.#file}.new`, this.#file);
        return this.#file;
    }

    #keepText(value: unknown): void {
        const inspected = inspect(value, { depth: Infinity, showHidden: true });
        this.#texts.push(String(value), inspected, JSON.stringify(value) ?? "");
        if (value instanceof Error) this.#texts.push(value.stack ?? "", inspect(value.cause));
    }
}

function milliseconds(seconds: number | undefined): number | undefined {
    return seconds === undefined ? undefined : seconds * 1000;
}

/** Runs a function in the span of a header. */
async function withSpan(traceparent: string | undefined, body: () => Promise<void>): Promise<void> {
    const [, traceId, spanId, flags] = traceparent?.split("-") ?? [];
    if (traceId === undefined || spanId === undefined) return body();
    const span = trace.wrapSpanContext({ traceId, spanId, traceFlags: Number(flags) });
    await context.with(trace.setSpan(context.active(), span), body);
}
