/** The scripted server of the conformance cases. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The folder `clients/conformance`. */
export const CONFORMANCE = process.env["SEALWARD_CONFORMANCE"] ?? "../../conformance";

/** A running server. */
export class Server {
    readonly #url: string;
    readonly #stop: () => Promise<void>;

    private constructor(url: string, stop: () => Promise<void>) {
        this.#url = url;
        this.#stop = stop;
    }

    /** Starts the server with options. */
    static async start(...options: readonly string[]): Promise<Server> {
        const child = spawn("python3", [`${CONFORMANCE}/server.py`, ...options], { stdio: ["pipe", "pipe", "inherit"] });
        const [url] = (await once(createInterface(child.stdout), "line")) as [string];
        return new Server(url, async () => {
            const ended = once(child, "exit");
            child.stdin.end();
            await ended;
        });
    }

    /** The answer of a path of the server itself. */
    async get<T>(path: string): Promise<T> {
        const response = await fetch(`${this.#url}/_conformance/${path}`);
        return (await response.json()) as T;
    }

    /** The answer of a path of the server itself. */
    async post<T>(path: string, body: unknown): Promise<T> {
        const response = await fetch(`${this.#url}/_conformance/${path}`, { method: "POST", body: JSON.stringify(body) });
        return (await response.json()) as T;
    }

    /** Ends the server. */
    stop(): Promise<void> {
        return this.#stop();
    }
}
