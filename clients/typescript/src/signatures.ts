/** Signatures, checked locally with the published keys of a service. */

import { constants, createPublicKey, publicDecrypt, verify, type JsonWebKey, type KeyObject, type VerifyKeyObjectInput } from "node:crypto";

import { KeyUnavailable, UnsupportedAlgorithm } from "./errors.js";
import type { JwkSet, PublishedJwk, VerifyPayload } from "./models.js";
import { isPssOfDigest } from "./pss.js";

interface Algorithm {
    readonly kty: string;
    readonly crv?: string;
    readonly hash: string | null;
    readonly pss?: boolean;
}

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
    "RSA-SHA256": { kty: "RSA", hash: "sha256" },
    "RSA-SHA384": { kty: "RSA", hash: "sha384" },
    "RSA-SHA512": { kty: "RSA", hash: "sha512" },
    "RSA-PSS-SHA256": { kty: "RSA", hash: "sha256", pss: true },
    "RSA-PSS-SHA384": { kty: "RSA", hash: "sha384", pss: true },
    "RSA-PSS-SHA512": { kty: "RSA", hash: "sha512", pss: true },
    "ECDSA-SHA256": { kty: "EC", crv: "P-256", hash: "sha256" },
    "ECDSA-SHA384": { kty: "EC", crv: "P-384", hash: "sha384" },
    "ECDSA-SHA512": { kty: "EC", crv: "P-521", hash: "sha512" },
    Ed25519: { kty: "OKP", crv: "Ed25519", hash: null },
};

/** The ASN.1 that stands before a digest in a PKCS#1 v1.5 signature (RFC 8017, section 9.2). */
const DIGEST_INFO: Readonly<Record<string, string>> = {
    sha256: "3031300d060960864801650304020105000420",
    sha384: "3041300d060960864801650304020205000430",
    sha512: "3051300d060960864801650304020305000440",
};

const FORMATS: readonly unknown[] = [undefined, "p1363", "der"];

/** Throws `UnsupportedAlgorithm` for a signature that this library cannot check. */
export function requireSupported({ algorithm, prehashed, signatureFormat }: VerifyPayload): void {
    if (!FORMATS.includes(signatureFormat)) {
        throw new UnsupportedAlgorithm(`${String(signatureFormat)} is not a format of signatures`);
    }
    const known = ALGORITHMS[algorithm];
    if (known === undefined) throw new UnsupportedAlgorithm(`${algorithm} is not supported; use verify`);
    if (prehashed === true && known.kty !== "RSA") {
        throw new UnsupportedAlgorithm(`Node.js cannot check a digest with ${algorithm}; give the data, or use verify`);
    }
}

/** The published signing key. */
export function findKey(keys: JwkSet, { keyId, algorithm }: VerifyPayload): PublishedJwk | undefined {
    const wanted = ALGORITHMS[algorithm];
    return keys.keys.find(
        ({ kid, use, kty, crv }) =>
            kid === keyId && use === "sig" && kty === wanted?.kty && (wanted.crv === undefined || crv === wanted.crv),
    );
}

/** Whether the signature of the bytes is valid. */
export function isValid(jwk: PublishedJwk, request: VerifyPayload, signed: Uint8Array): boolean {
    const { hash, pss } = ALGORITHMS[request.algorithm] ?? { hash: null };
    const key = publicKey(jwk);
    if (request.prehashed === true) {
        const check = pss === true ? isPssOfDigest : isPkcs1OfDigest;
        return check(key, hash ?? "", signed, request.signature);
    }
    const input: VerifyKeyObjectInput = { key };
    if (pss === true) {
        input.padding = constants.RSA_PKCS1_PSS_PADDING;
        input.saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
    }
    if (jwk.kty === "EC") input.dsaEncoding = request.signatureFormat === "der" ? "der" : "ieee-p1363";
    return verify(hash, signed, input, request.signature);
}

function isPkcs1OfDigest(key: KeyObject, hash: string, digest: Uint8Array, signature: Uint8Array): boolean {
    const expected = Buffer.concat([Buffer.from(DIGEST_INFO[hash] ?? "", "hex"), digest]);
    try {
        return publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature).equals(expected);
    } catch {
        return false;
    }
}

function publicKey(jwk: PublishedJwk): KeyObject {
    try {
        return createPublicKey({ key: jwk as unknown as JsonWebKey, format: "jwk" });
    } catch {
        throw new KeyUnavailable(`the published key ${jwk.kid} is not a key`);
    }
}
