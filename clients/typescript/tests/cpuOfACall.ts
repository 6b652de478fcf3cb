/**
 * Measures the CPU time of a call of `protect` against that of bare `fetch`, with 16 connections.
 *
 * The bare client encodes the same body and decodes the same answer. The server, whose CPU time does not count, runs in
 * another process.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { Client } from "sealward";

const CONNECTIONS = 16;
const CALLS = 20_000;
const ROUNDS = 6;
const KEY = "sk_test_cpu";
const PAYLOAD = { card: "4111 1111 1111 1111", name: "A. Customer" };

const server = spawn("python3", [join(process.env["SEALWARD_CONFORMANCE"] ?? "", "answering.py")], {
    stdio: ["pipe", "pipe", "inherit"],
});
const [line] = (await once(server.stdout, "data")) as [Buffer];
const url = line.toString().trim();
const client = new Client({ url, credential: KEY });
for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await measured(() => callBare(url));
    const full = await measured(() => client.protect(PAYLOAD));
    const more = 100 * (full / bare - 1);
    console.log(`bare ${bare.toFixed(0)} µs, client ${full.toFixed(0)} µs: ${more.toFixed(1)} %`);
}
server.stdin.end();

async function callBare(url: string): Promise<unknown> {
    const response = await fetch(`${url}/api/v1/protect`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ payload: PAYLOAD }),
        signal: AbortSignal.timeout(30_000),
    });
    return ((await response.json()) as { jwe: unknown }).jwe;
}

/** The microseconds of CPU time of a call. */
async function measured(call: () => Promise<unknown>): Promise<number> {
    const before = process.cpuUsage();
    const worker = async (): Promise<void> => {
        for (let count = 0; count < CALLS / CONNECTIONS; count += 1) await call();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / CALLS;
}
