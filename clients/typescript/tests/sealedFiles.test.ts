/** Sealed files: the published vectors, and files on a disk. */

import assert from "node:assert/strict";
import crypto, { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it, mock } from "node:test";

import { Client, FileNotAuthentic, MalformedFile, type Jwe } from "sealward";

import { CONFORMANCE } from "./server.js";

interface Vector {
    readonly name: string;
    readonly plaintext: { readonly repeat: string; readonly length: number };
    readonly salt: string;
    readonly noncePrefix: string;
    readonly size: number;
    readonly sha256: string;
}

type Edit =
    | { readonly remove: { readonly at: number; readonly length: number } }
    | { readonly insert: { readonly at: number; readonly base64: string } }
    | { readonly flip: { readonly at: number } };

interface Broken {
    readonly name: string;
    readonly of: string;
    readonly edits: readonly Edit[];
    readonly error: "malformed" | "notAuthentic";
    readonly authentic: number;
}

interface Vectors {
    readonly dataKey: string;
    readonly envelope: string;
    readonly files: readonly Vector[];
    readonly broken: readonly Broken[];
}

const vectors = JSON.parse(readFileSync(`${CONFORMANCE}/files/vectors.json`, "utf8")) as Vectors;
const jwe = JSON.parse(vectors.envelope) as Jwe;
const ERRORS = { malformed: MalformedFile, notAuthentic: FileNotAuthentic };

/** A service that gives the data key of the vectors, and opens every envelope to it. */
const service = createServer((request, response) => {
    const answer = request.url?.endsWith("/data-keys")
        ? { requestId: "r", algorithm: "AES-256", key: vectors.dataKey, jwe }
        : { requestId: "r", operations: ["decrypt"], payload: vectors.dataKey };
    request.resume().on("end", () => response.end(JSON.stringify(answer)));
});
let client: Client;
before(async () => {
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    client = new Client({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}`, credential: "sk_test_x" });
});
after(() => {
    service.close();
    // Node 18 would wait for a connection that had no request.
    service.closeAllConnections();
});

describe("vectors", () => {
    for (const vector of vectors.files) {
        it(`are written and read: ${vector.name}`, async () => {
            const content = await sealed(vector);
            assert.equal(content.length, vector.size);
            assert.equal(createHash("sha256").update(content).digest("hex"), vector.sha256);
            assert.deepEqual(await collect(client.decryptStream(parts(content))), plaintext(vector));
        });
    }
    for (const broken of vectors.broken) {
        it(`that are broken are refused: ${broken.name}`, async () => {
            const whole = vectors.files.find(({ name }) => name === broken.of) as Vector;
            const content = broken.edits.reduce(edited, await sealed(whole));
            let authentic = 0;
            await assert.rejects(async () => {
                for await (const part of client.decryptStream(parts(content))) authentic += part.length;
            }, ERRORS[broken.error]);
            assert.equal(authentic, broken.authentic);
        });
    }
});

describe("files", () => {
    it("come back, with progress", async () => {
        const folder = await mkdtemp(join(tmpdir(), "sealed-"));
        const [plain, target, back] = ["plain", "sealed", "back"].map((name) => join(folder, name)) as [string, string, string];
        const content = randomBytes(3_000_000);
        await writeFile(plain, content);
        const told: number[] = [];
        await client.encryptFile(plain, target, { progress: (bytes) => told.push(bytes) });
        await client.decryptFile(target, back);
        assert.deepEqual(await readFile(back), content);
        assert.equal(told.at(-1), content.length);
    });

    it("that were cut leave no target", async () => {
        const folder = await mkdtemp(join(tmpdir(), "sealed-"));
        const [source, target] = [join(folder, "sealed"), join(folder, "back")];
        const content = await collect(client.encryptStream(parts(randomBytes(2_500_000))));
        await writeFile(source, content.subarray(0, 2 ** 20 + 600));
        await assert.rejects(client.decryptFile(source, target), FileNotAuthentic);
        assert.deepEqual(await readdir(folder), ["sealed"]);
    });
});

function plaintext({ plaintext: { repeat, length } }: Vector): Buffer {
    return Buffer.alloc(length, repeat);
}

/** A vector as the library writes it, with the random values of the vector. */
async function sealed(vector: Vector): Promise<Buffer> {
    const values = [vector.salt, vector.noncePrefix].map((text) => Buffer.from(text, "base64"));
    const fake = mock.method(crypto, "randomBytes", () => values.shift());
    syncBuiltinESMExports();
    try {
        return await collect(client.encryptStream(parts(plaintext(vector))));
    } finally {
        fake.mock.restore();
        syncBuiltinESMExports();
    }
}

function edited(content: Buffer, edit: Edit): Buffer {
    if ("remove" in edit) {
        const { at, length } = edit.remove;
        return Buffer.concat([content.subarray(0, at), content.subarray(at + length)]);
    }
    if ("insert" in edit) {
        const { at, base64 } = edit.insert;
        return Buffer.concat([content.subarray(0, at), Buffer.from(base64, "base64"), content.subarray(at)]);
    }
    const changed = Buffer.from(content);
    changed[edit.flip.at] = (changed[edit.flip.at] ?? 0) ^ 1;
    return changed;
}

async function* parts(content: Buffer): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < content.length; at += 70_000) yield await Promise.resolve(content.subarray(at, at + 70_000));
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of source) chunks.push(chunk);
    return Buffer.concat(chunks);
}
