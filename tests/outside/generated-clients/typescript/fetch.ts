// The round trip of a client that openapi-generator made for TypeScript.
import assert from "node:assert/strict";
import process from "node:process";

import {
    APIKeysApi,
    AuditApi,
    Configuration,
    KeysApi,
    PoliciesApi,
    ResponseError,
    RuntimeApi,
    ServiceChangesFromJSON,
    ServiceToJSON,
    ServicesApi,
    ErrorResponseFromJSON,
    type Key,
    type KeyAlgorithm,
    type OperationRequest,
    type Service,
} from "./generated/index.js";

const requestId = `typescript-fetch ${process.hrtime.bigint()}`;

function connect(key: string): Configuration {
    return new Configuration({ basePath: process.env["SEALWARD_URL"], accessToken: key });
}

const admin = connect(process.env["SEALWARD_ADMIN_KEY"] ?? "");
const services = new ServicesApi(admin);
let runtime: RuntimeApi;

async function createKeys(service: Service): Promise<Key> {
    const keys = new KeysApi(admin);
    for (const algorithm of ["P-256", "AES-256", "Ed25519"] satisfies KeyAlgorithm[]) {
        const key = await keys.createKey({ newKey: { serviceId: service.id, generate: true, algorithm } });
        assert.equal(key.algorithm, algorithm);
    }
    const jwk = {
        kty: "EC",
        crv: "P-256",
        x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        kid: "partner-1",
    };
    const imported = await keys.createKey({ newKey: { serviceId: service.id, use: "sig", publicKey: jwk } });
    assert.equal(imported.publicKey?.x, jwk.x);
    assert.equal(imported.partnerKid, "partner-1");
    return imported;
}

async function protectAndUnprotect(): Promise<void> {
    const payload = { card: "4111 1111 1111 1111", amount: 12.5 };
    const context = { tenant: "acme" };
    const { jwe } = await runtime.protect({ protectRequest: { payload, context }, xRequestId: requestId });
    const opened = await runtime.unprotect({ unprotectRequest: { jwe, context }, xRequestId: requestId });
    assert.deepEqual(opened.payload, payload);
}

async function operate(operationRequest: OperationRequest) {
    const { result } = await runtime.operate({ operationRequest, xRequestId: requestId });
    return result;
}

async function encryptAndDecrypt(): Promise<void> {
    const algorithm = "AES-256-GCM";
    const made = await operate({ operation: "encrypt", payload: { data: "secret", algorithm } });
    const { ciphertext = "", iv = "", tag = "", keyId = "" } = made;
    const opened = await operate({ operation: "decrypt", payload: { ciphertext, iv, tag, algorithm, keyId } });
    assert.equal(opened.data, "secret");
}

async function signAndVerify(): Promise<void> {
    const message = { data: "message", algorithm: "Ed25519" } as const;
    const { signature = "", keyId = "" } = await operate({ operation: "sign", payload: message });
    const verified = await operate({ operation: "verify", payload: { ...message, signature, keyId } });
    assert.equal(verified.valid, true);
}

async function hash(): Promise<void> {
    const hashed = await operate({ operation: "hash", payload: { data: "abc", algorithm: "SHA-256" } });
    assert.equal(hashed.algorithm, "SHA-256");
    assert.ok(hashed.hash);
}

// An error has the one schema of all errors.
async function refuse(imported: Key): Promise<void> {
    const payload = { data: "message", algorithm: "Ed25519", keyId: imported.id } as const;
    const refused = await operate({ operation: "sign", payload }).catch((error: unknown) => error);
    assert.ok(refused instanceof ResponseError);
    assert.equal(refused.response.status, 400);
    const { error } = ErrorResponseFromJSON(await refused.response.json());
    assert.equal(error.code, "INVALID_REQUEST");
    assert.equal(error.details?.[0]?.field, "payload.algorithm");
}

// The resource that GET returned is changed and sent back by PUT.
async function update(created: Service): Promise<void> {
    const service = await services.readService({ id: created.id });
    const serviceChanges = { ...ServiceChangesFromJSON(ServiceToJSON(service)), description: "edited" };
    const updated = await services.updateService({ id: created.id, serviceChanges });
    assert.equal(updated.description, "edited");
    assert.equal(updated.name, created.name);
}

async function audit(service: Service): Promise<void> {
    const page = await new AuditApi(admin).listAudit({ limit: 20, requestId, applicationId: service.id });
    assert.equal(page.items.length, 8);
    assert.equal(page.items[7]?.operationType, "encrypt");
    assert.equal(page.items[0]?.responseStatus, 400);
    assert.equal(page.nextCursor, null);
}

const service = await services.createService({ newService: { name: requestId } });
const imported = await createKeys(service);
const policy = await new PoliciesApi(admin).createPolicy({
    newPolicy: {
        name: requestId,
        destinationServiceId: service.id,
        alg: "ECDH-ES+A256KW",
        allowedServiceIds: [service.id],
    },
});
const apiKey = await new APIKeysApi(admin).createApiKey({
    newApiKey: { name: requestId, type: "test", serviceId: service.id, policyNumber: policy.policyNumber },
});
runtime = new RuntimeApi(connect(apiKey.secret ?? ""));
await protectAndUnprotect();
await encryptAndDecrypt();
await signAndVerify();
await hash();
await refuse(imported);
await update(service);
await audit(service);
