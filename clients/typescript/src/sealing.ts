/**
 * Local sealing: envelopes that this process makes with the public key of a policy.
 *
 * The service does not record, limit or refuse such an envelope, and a freeze does not stop it.
 */

import {
    constants,
    createCipheriv,
    createHash,
    createPublicKey,
    diffieHellman,
    generateKeyPairSync,
    publicEncrypt,
    randomBytes,
    type JsonWebKey,
    type KeyObject,
} from "node:crypto";

import { ContextRequired, Frozen, KeyUnavailable, PolicyNotActive, UnexpectedAnswer, UnsupportedAlgorithm } from "./errors.js";
import type { Jwe, PolicySummary, PublishedJwk } from "./models.js";

const CONTENT_CIPHERS: Readonly<Record<string, { name: "aes-256-gcm" | "aes-128-gcm"; bytes: number }>> = {
    A256GCM: { name: "aes-256-gcm", bytes: 32 },
    A128GCM: { name: "aes-128-gcm", bytes: 16 },
};
const RSA_HASHES: Readonly<Record<string, string>> = { "RSA-OAEP-256": "sha256", "RSA-OAEP": "sha1" };
const WRAPPING_CIPHERS: Readonly<Record<string, { name: string; bytes: number }>> = {
    "ECDH-ES+A256KW": { name: "id-aes256-wrap", bytes: 32 },
    "ECDH-ES+A128KW": { name: "id-aes128-wrap", bytes: 16 },
};
const CURVES: readonly (string | undefined)[] = ["P-256", "P-384", "P-521"];
const KEY_WRAP_IV = Buffer.alloc(8, 0xa6);

type Header = Record<string, unknown>;

/** An envelope under the policy. */
export function seal(policy: PolicySummary, plaintext: Uint8Array): Jwe {
    const { jwk, cipher } = usable(policy);
    const contentKey = randomBytes(cipher.bytes);
    try {
        const wrapped = wrap(policy, jwk, contentKey);
        const header = { ...headerOf(policy, jwk), ...wrapped.header };
        const sorted = Object.fromEntries(Object.entries(header).sort(([one], [other]) => (one < other ? -1 : 1)));
        const protectedText = Buffer.from(JSON.stringify(sorted)).toString("base64url");
        const iv = randomBytes(12);
        const gcm = createCipheriv(cipher.name, contentKey, iv).setAAD(Buffer.from(protectedText));
        const ciphertext = Buffer.concat([gcm.update(plaintext), gcm.final()]);
        return {
            protected: protectedText,
            encrypted_key: wrapped.key.toString("base64url"),
            iv: iv.toString("base64url"),
            ciphertext: ciphertext.toString("base64url"),
            tag: gcm.getAuthTag().toString("base64url"),
        };
    } finally {
        contentKey.fill(0);
    }
}

function usable(policy: PolicySummary): { jwk: PublishedJwk; cipher: { name: "aes-256-gcm" | "aes-128-gcm"; bytes: number } } {
    const name = `policy ${policy.policyNumber}`;
    if (policy.status === "frozen") throw new Frozen(`${name} is frozen`);
    if (policy.status !== "active") throw new PolicyNotActive(`${name} is not active`);
    if (policy.contextRequired) throw new ContextRequired(`${name} requires a context; use protect`);
    if (!(policy.alg in RSA_HASHES) && !(policy.alg in WRAPPING_CIPHERS)) {
        throw new UnsupportedAlgorithm(`${name} uses ${policy.alg}; use protect`);
    }
    const cipher = CONTENT_CIPHERS[policy.enc];
    if (cipher === undefined) throw new UnsupportedAlgorithm(`${name} uses ${policy.enc}; use protect`);
    if (policy.key === null) throw new KeyUnavailable(`${name} has no key`);
    return { jwk: policy.key, cipher };
}

function headerOf(policy: PolicySummary, jwk: PublishedJwk): Header {
    const header: Header = { alg: policy.alg, enc: policy.enc, kid: jwk.kid };
    if (policy.keyOwnership !== "destination_managed") header["pol"] = policy.id;
    const { headers } = policy;
    if (headers === null) return { ...header, cty: "json" };
    if (typeof headers.typ === "string") header["typ"] = headers.typ;
    if (typeof headers.cty === "string") header["cty"] = headers.cty;
    if (headers.iat === true) header["iat"] = Math.floor(Date.now() / 1000);
    return header;
}

function wrap(policy: PolicySummary, jwk: PublishedJwk, contentKey: Buffer): { key: Buffer; header: Header } {
    const hash = RSA_HASHES[policy.alg];
    return hash === undefined ? wrapWithEc(policy, jwk, contentKey) : { key: wrapWithRsa(policy, jwk, contentKey, hash), header: {} };
}

function wrapWithRsa(policy: PolicySummary, jwk: PublishedJwk, contentKey: Buffer, oaepHash: string): Buffer {
    const key = publicKey(policy, jwk);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (jwk.kty !== "RSA" || bits < 2048 || bits > 8192) throw unfit(policy);
    return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, contentKey);
}

function wrapWithEc(policy: PolicySummary, jwk: PublishedJwk, contentKey: Buffer): { key: Buffer; header: Header } {
    const cipher = WRAPPING_CIPHERS[policy.alg];
    if (cipher === undefined || jwk.kty !== "EC" || !CURVES.includes(jwk.crv)) throw unfit(policy);
    const recipient = publicKey(policy, jwk);
    const ephemeral = generateKeyPairSync("ec", { namedCurve: jwk.crv ?? "" });
    const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient });
    const wrappingKey = concatKdf(shared, policy.alg, cipher.bytes);
    const wrapping = createCipheriv(cipher.name, wrappingKey, KEY_WRAP_IV);
    const key = Buffer.concat([wrapping.update(contentKey), wrapping.final()]);
    shared.fill(0);
    wrappingKey.fill(0);
    const { crv, kty, x, y } = ephemeral.publicKey.export({ format: "jwk" });
    return { key, header: { epk: { crv, kty, x, y } } };
}

/** The key derivation of RFC 7518, section 4.6.2. One round of SHA-256 is enough for both lengths. */
function concatKdf(shared: Buffer, algorithm: string, bytes: number): Buffer {
    const empty = numbers(0);
    const input = [numbers(1), shared, numbers(algorithm.length), Buffer.from(algorithm), empty, empty, numbers(bytes * 8)];
    return createHash("sha256").update(Buffer.concat(input)).digest().subarray(0, bytes);
}

function numbers(value: number): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
}

function publicKey(policy: PolicySummary, jwk: PublishedJwk): KeyObject {
    try {
        return createPublicKey({ key: jwk as unknown as JsonWebKey, format: "jwk" });
    } catch {
        throw unfit(policy);
    }
}

function unfit(policy: PolicySummary): UnexpectedAnswer {
    return new UnexpectedAnswer(`the key of policy ${policy.policyNumber} does not fit`);
}
