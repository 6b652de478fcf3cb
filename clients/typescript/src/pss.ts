/** RSASSA-PSS of a digest (RFC 8017, section 9.1.2). Node.js has it for messages only. */

import { constants, createHash, publicDecrypt, type KeyObject } from "node:crypto";

const TRAILER = 0xbc;

/** Whether a signature of the digest is valid whose salt has the length of the digest. */
export function isPssOfDigest(key: KeyObject, hash: string, digest: Uint8Array, signature: Uint8Array): boolean {
    const bits = (key.asymmetricKeyDetails?.modulusLength ?? 0) - 1;
    const encoded = encodedMessage(key, bits, signature);
    if (encoded?.at(-1) !== TRAILER || encoded.length < 2 * digest.length + 2) return false;
    const stated = encoded.subarray(-1 - digest.length, -1);
    const block = unmasked(encoded.subarray(0, encoded.length - digest.length - 1), stated, hash);
    const surplus = 8 * encoded.length - bits;
    if ((encoded.readUInt8(0) & ~(0xff >> surplus)) !== 0) return false;
    block.writeUInt8(block.readUInt8(0) & (0xff >> surplus), 0);
    const salt = block.subarray(-digest.length);
    const padding = Buffer.alloc(block.length - digest.length);
    padding.writeUInt8(1, padding.length - 1);
    if (!block.subarray(0, padding.length).equals(padding)) return false;
    return createHash(hash).update(Buffer.alloc(8)).update(digest).update(salt).digest().equals(stated);
}

/** What was signed, without the byte that a modulus of 8n + 1 bits adds. */
function encodedMessage(key: KeyObject, bits: number, signature: Uint8Array): Buffer | undefined {
    try {
        const number = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
        const length = Math.ceil(bits / 8);
        const surplus = number.subarray(0, number.length - length);
        return surplus.every((byte) => byte === 0) ? number.subarray(-length) : undefined;
    } catch {
        return undefined;
    }
}

/** A block without the mask MGF1 of a seed. */
function unmasked(block: Buffer, seed: Uint8Array, hash: string): Buffer {
    const masks: Buffer[] = [];
    for (let counter = 0, length = 0; length < block.length; counter += 1) {
        const mask = createHash(hash).update(seed).update(Buffer.of(0, 0, counter >> 8, counter & 0xff)).digest();
        masks.push(mask);
        length += mask.length;
    }
    const mask = Buffer.concat(masks);
    return Buffer.from(block.map((byte, at) => byte ^ mask.readUInt8(at)));
}
