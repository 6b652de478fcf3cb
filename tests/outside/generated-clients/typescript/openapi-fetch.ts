// The round trip of a client with the types of openapi-typescript and the calls of openapi-fetch.
import assert from "node:assert/strict";
import process from "node:process";

import createClient from "openapi-fetch";

import type { components, paths } from "./generated.js";

type Schemas = components["schemas"];

const requestId = `openapi-fetch ${process.hrtime.bigint()}`;
const header = { "X-Request-Id": requestId };

function connect(key: string) {
    const baseUrl = process.env["SEALWARD_URL"] ?? "";
    return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
}

function data<T>(answer: { data?: T; error?: unknown }): T {
    assert.ok(answer.data !== undefined, JSON.stringify(answer.error));
    return answer.data;
}

/** The resource of a response that can also be a proposed change. */
function created<T>(answer: { data?: T | Schemas["Change"]; error?: unknown; response: Response }): T {
    assert.equal(answer.response.status, 201);
    return data(answer) as T;
}

const admin = connect(process.env["SEALWARD_ADMIN_KEY"] ?? "");
let runtime: typeof admin;

async function createKey(body: Schemas["NewKey"]): Promise<Schemas["Key"]> {
    return created<Schemas["Key"]>(await admin.POST("/admin/keys", { body }));
}

async function createKeys(serviceId: string): Promise<Schemas["Key"]> {
    for (const algorithm of ["P-256", "AES-256", "Ed25519"] satisfies Schemas["KeyAlgorithm"][]) {
        const key = await createKey({ serviceId, generate: true, algorithm });
        assert.equal(key.algorithm, algorithm);
    }
    const jwk = {
        kty: "EC",
        crv: "P-256",
        x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        kid: "partner-1",
    };
    const imported = await createKey({ serviceId, use: "sig", publicKey: jwk });
    assert.equal(imported.publicKey?.x, jwk.x);
    assert.equal(imported.partnerKid, "partner-1");
    return imported;
}

async function protectAndUnprotect(): Promise<void> {
    const payload = { card: "4111 1111 1111 1111", amount: 12.5 };
    const context = { tenant: "acme" };
    const body = { payload, context };
    const { jwe } = data(await runtime.POST("/api/v1/protect", { body, params: { header } }));
    const opened = await runtime.POST("/api/v1/unprotect", { body: { jwe, context }, params: { header } });
    assert.deepEqual(data(opened).payload, payload);
}

async function operate(body: Schemas["OperationRequest"]) {
    return runtime.POST("/api/v1/operations", { body, params: { header } });
}

async function encryptAndDecrypt(): Promise<void> {
    const algorithm = "AES-256-GCM";
    const made = data(await operate({ operation: "encrypt", payload: { data: "secret", algorithm } }));
    const { ciphertext = "", iv = "", tag = "", keyId = "" } = made.result;
    const opened = await operate({ operation: "decrypt", payload: { ciphertext, iv, tag, algorithm, keyId } });
    assert.equal(data(opened).result.data, "secret");
}

async function signAndVerify(): Promise<void> {
    const message = { data: "message", algorithm: "Ed25519" } as const;
    const { signature = "", keyId = "" } = data(await operate({ operation: "sign", payload: message })).result;
    const verified = await operate({ operation: "verify", payload: { ...message, signature, keyId } });
    assert.equal(data(verified).result.valid, true);
}

async function hash(): Promise<void> {
    const hashed = await operate({ operation: "hash", payload: { data: "abc", algorithm: "SHA-256" } });
    assert.equal(data(hashed).result.algorithm, "SHA-256");
    assert.ok(data(hashed).result.hash);
}

// An error has the one schema of all errors.
async function refuse(imported: Schemas["Key"]): Promise<void> {
    const payload = { data: "message", algorithm: "Ed25519", keyId: imported.id } as const;
    const { error, response } = await operate({ operation: "sign", payload });
    assert.equal(response.status, 400);
    assert.equal(error?.error.code, "INVALID_REQUEST");
    assert.equal(error?.error.details?.[0]?.field, "payload.algorithm");
}

// The resource that GET returned is changed and sent back by PUT. Members that this client does not know
// stay as they are, so it sends the known ones.
async function update(created: Schemas["Service"]): Promise<void> {
    const params = { path: { id: created.id } };
    const service = data(await admin.GET("/admin/services/{id}", { params }));
    const { id, name, description, publishKeys, tier, rateLimit, createdAt, updatedAt } = service;
    const { requestsPerSecond, burst } = rateLimit;
    const body = {
        id,
        name,
        description: description ?? "edited",
        publishKeys,
        tier: tier as Schemas["Tier"],
        rateLimit: { requestsPerSecond, burst },
        createdAt,
        updatedAt,
    };
    const updated = data(await admin.PUT("/admin/services/{id}", { params, body }));
    assert.equal(updated.description, "edited");
    assert.equal(updated.name, created.name);
}

async function audit(service: Schemas["Service"]): Promise<void> {
    const query = { limit: 20, requestId, applicationId: service.id };
    const page = data(await admin.GET("/admin/audit", { params: { query } }));
    assert.ok(typeof page === "object");
    assert.equal(page.items.length, 8);
    assert.equal(page.items[7]?.operation_type, "encrypt");
    assert.equal(page.items[0]?.response_status, 400);
    assert.equal(page.nextCursor, null);
}

const service = data(await admin.POST("/admin/services", { body: { name: requestId } }));
const imported = await createKeys(service.id);
const newPolicy: Schemas["NewPolicy"] = {
    name: requestId,
    destinationServiceId: service.id,
    alg: "ECDH-ES+A256KW",
    allowedServiceIds: [service.id],
};
const { policyNumber } = created<Schemas["Policy"]>(
    await admin.POST("/admin/policies", { body: newPolicy }),
);
const newApiKey: Schemas["NewApiKey"] = { name: requestId, type: "test", serviceId: service.id, policyNumber };
const apiKey = created<Schemas["CreatedApiKey"]>(
    await admin.POST("/admin/api-keys", { body: newApiKey }),
);
runtime = connect(apiKey.secret ?? "");
await protectAndUnprotect();
await encryptAndDecrypt();
await signAndVerify();
await hash();
await refuse(imported);
await update(service);
await audit(service);
