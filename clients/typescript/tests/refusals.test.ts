/** What the library refuses itself, because `JSON.stringify` would lose it. No message contains a payload. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";

import {
    ApiKey,
    ApiKeyFile,
    Client,
    DataKey,
    DataKeyCache,
    InvalidConfiguration,
    InvalidRequest,
    PassedThrough,
    Plaintext,
    RawJson,
    type Context,
    type Jwe,
} from "sealward";

const SECRET = "4111 1111 1111 1111";
const jwe: Jwe = { protected: "e30", encrypted_key: "AA", iv: "AA", ciphertext: "AA", tag: "AA" };

class Card {
    constructor(readonly number: string) {}
}

class Locked {
    readonly #number: string = SECRET;

    isLocked(): boolean {
        return this.#number !== "";
    }
}

/** Keeps the payload of each request. */
const payloads: unknown[] = [];
const service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
        payloads.push((JSON.parse(Buffer.concat(chunks).toString()) as { payload: unknown }).payload);
        response.end(JSON.stringify({ requestId: "r", operations: ["encrypt"], jwe }));
    });
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

function inItself(): unknown[] {
    const value: unknown[] = [SECRET];
    value.push(value);
    return value;
}

const REFUSED: readonly (readonly [value: unknown, what: string])[] = [
    [undefined, "undefined; leave the member out, or use null"],
    [Number.NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [1n, "a BigInt; use RawJson or a string"],
    [(): string => SECRET, "a function"],
    [Symbol(SECRET), "a symbol"],
    [new Map([["card", SECRET]]), "an object of the class Map"],
    [new Set([SECRET]), "an object of the class Set"],
    [Promise.resolve(SECRET), "an object of the class Promise"],
    [new Error(SECRET), "an object of the class Error"],
    [new Locked(), "an object of the class Locked"],
    [new Date(Number.NaN), "an invalid Date"],
    [new Plaintext(new RawJson(`"${SECRET}"`), "r"), "an object of the class Plaintext"],
    [new PassedThrough(new RawJson(`"${SECRET}"`), "", "r"), "an object of the class PassedThrough"],
    [new DataKey("AES-256", jwe, new Uint8Array(32), "r"), "an object of the class DataKey"],
    [new DataKeyCache({ maxAgeMs: 1, maxMessages: 1, maxBytes: 1 }), "an object of the class DataKeyCache"],
    [new ApiKey(SECRET), "an object of the class ApiKey"],
    [new ApiKeyFile("key"), "an object of the class ApiKeyFile"],
    [{ toJSON: () => new Set([SECRET]) }, "an object of the class Set"],
    [
        {
            toJSON: () => {
                throw new Error(SECRET);
            },
        },
        "a value whose toJSON fails",
    ],
    [inItself(), "a value that contains itself or has too many levels"],
];
const ONLY_INSIDE: readonly (readonly [value: unknown, what: string])[] = [
    [new Uint8Array(4), "bytes as a part of another value; use base64"],
    [Buffer.alloc(4), "bytes as a part of another value; use base64"],
    [new RawJson("1.0"), "an object of the class RawJson"],
];

describe("a value that JSON.stringify would lose", () => {
    for (const [value, what] of REFUSED) {
        it(`is refused: ${what}`, async () => {
            await assert.rejects(client.protect(value), refusal(what));
            await assert.rejects(client.sign(value, { algorithm: "ECDSA-SHA256" }), refusal(what));
        });
    }
    for (const [value, what] of [...REFUSED, ...ONLY_INSIDE]) {
        it(`is refused inside another value: ${what}`, async () => {
            await assert.rejects(client.protect({ card: value }), refusal(what));
            await assert.rejects(client.protect([[value]]), refusal(what));
        });
    }

    it("is refused in a context", async () => {
        const context = { tenant: undefined } as unknown as Context;
        await assert.rejects(client.protect("x", { context }), refusal("undefined; leave the member out, or use null"));
    });

    it("does not include what JSON represents", async () => {
        const date = new Date(0);
        for (const value of [null, "x", 0, false, {}, [], { a: [null, { b: 1.5 }] }, new Card("4111"), date, Object.create(null)]) {
            await client.protect(value);
            assert.deepEqual(payloads.pop(), JSON.parse(JSON.stringify(value)));
        }
    });
});

describe("an address", () => {
    for (const url of ["", "localhost", "ftp://localhost", "https://", "https://localhost/?a=b"]) {
        it(`that is none is refused: ${url}`, () => {
            assert.throws(() => new Client({ url, credential: "sk_test_x" }), InvalidConfiguration);
        });
    }
});

function refusal(what: string): (error: unknown) => boolean {
    return (error) => {
        assert.ok(error instanceof InvalidRequest);
        assert.equal(error.message, `JSON cannot represent ${what}`);
        assert.equal(error.cause, undefined);
        return true;
    };
}
