/** Envelopes that are sealed locally open with a foreign JOSE library, for keys of every kind. */

import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";

import { flattenedDecrypt } from "jose";
import { Client } from "sealward";

const KEYS: Readonly<Record<string, () => { publicKey: KeyObject; privateKey: KeyObject }>> = {
    RSA: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
    "P-256": () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    "P-384": () => generateKeyPairSync("ec", { namedCurve: "P-384" }),
    "P-521": () => generateKeyPairSync("ec", { namedCurve: "P-521" }),
};
const POLICIES = [
    ["RSA-OAEP-256", "A256GCM", "RSA"],
    ["RSA-OAEP", "A128GCM", "RSA"],
    ...["P-256", "P-384", "P-521"].flatMap((curve) => [
        ["ECDH-ES+A256KW", "A256GCM", curve],
        ["ECDH-ES+A128KW", "A128GCM", curve],
    ]),
] as [string, string, string][];

let policy: object;
const service = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify(policy)));
});
let url: string;
before(async () => {
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
after(() => {
    service.close();
    // Node 18 would wait for a connection that had no request.
    service.closeAllConnections();
});

describe("jose opens what is sealed locally", () => {
    for (const [alg, enc, kind] of POLICIES) {
        it(`${alg} ${enc} ${kind}`, async () => {
            const { publicKey, privateKey } = (KEYS[kind] as () => { publicKey: KeyObject; privateKey: KeyObject })();
            policy = {
                ...{ id: "pol_1", policyNumber: "P", status: "active", failureMode: "error" },
                ...{ keyOwnership: "destination_managed", alg, enc, contextRequired: false, requireBinding: false },
                headers: { typ: "JOSE", iat: true, cty: null },
                key: { ...publicKey.export({ format: "jwk" }), kid: "partner", use: "enc", alg },
            };
            const jwe = await new Client({ url, credential: "sk_test_x" }).sealLocally({ n: 1.5 }, "P");
            const { plaintext, protectedHeader } = await flattenedDecrypt(jwe, privateKey);
            assert.deepEqual(JSON.parse(new TextDecoder().decode(plaintext)), { n: 1.5 });
            assert.equal(protectedHeader?.["typ"], "JOSE");
        });
    }
});
