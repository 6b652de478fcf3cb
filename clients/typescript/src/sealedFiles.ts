/** Sealed files: a data key in an envelope, and segments of AES-256-GCM. FILE.md specifies the format. */

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

import { FileNotAuthentic, MalformedFile } from "./errors.js";
import type { Jwe } from "./models.js";

const SEGMENT = 2 ** 20;
const KEY = 32;
const SALT = 32;
const PREFIX = 7;
const HEADER = 1 + SALT + PREFIX;
const TAG = 16;
const MAX_LINE = 16 * 2 ** 10;
const LINE_FEED = 10;
const LINE =
    /^\{"protected":"[\w-]+","encrypted_key":"[\w-]+","iv":"[\w-]+","ciphertext":"[\w-]+","tag":"[\w-]+"\}\n$/;

/** The first line of a sealed file, with its line feed. */
export function lineOf({ protected: header, encrypted_key, iv, ciphertext, tag }: Jwe): string {
    return `${JSON.stringify({ protected: header, encrypted_key, iv, ciphertext, tag })}\n`;
}

/** Encrypts a stream. */
export async function* encrypted(
    source: AsyncIterable<Uint8Array>,
    jwe: Jwe,
    key: Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
    const line = lineOf(jwe);
    const [salt, prefix] = [randomBytes(SALT), randomBytes(PREFIX)];
    yield Buffer.concat([Buffer.from(line), Buffer.of(HEADER), salt, prefix]);
    const segments = new Segments(line, key, salt, prefix);
    const buffer = new ByteQueue(source);
    try {
        for (let size = SEGMENT - HEADER - TAG; ; size = SEGMENT - TAG) {
            const plaintext = await buffer.take(size);
            const last = await buffer.isEmpty();
            yield segments.seal(plaintext, last);
            if (last) return;
        }
    } finally {
        segments.wipe();
    }
}

/** A sealed file whose first line is read, so that its data key can be opened. */
export interface OpenedFile {
    readonly jwe: Jwe;
    /** The plaintext. Each part is authentic; a cut end rejects only at the end. */
    decrypt(key: Uint8Array): AsyncGenerator<Uint8Array, void, undefined>;
}

/** Reads the first line. Rejects with `MalformedFile`. */
export async function opened(source: AsyncIterable<Uint8Array>): Promise<OpenedFile> {
    const buffer = new ByteQueue(source);
    const line = await buffer.takeLine(MAX_LINE);
    if (!LINE.test(line)) throw new MalformedFile("this is not a sealed file");
    return { jwe: JSON.parse(line) as Jwe, decrypt: (key) => decrypted(buffer, line, key) };
}

async function* decrypted(buffer: ByteQueue, line: string, key: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
    const header = await buffer.take(HEADER);
    if (header.length !== HEADER || header[0] !== HEADER) throw new MalformedFile("this is not a sealed file");
    const segments = new Segments(line, key, header.subarray(1, 1 + SALT), header.subarray(1 + SALT));
    try {
        for (let size = SEGMENT - HEADER; ; size = SEGMENT) {
            const segment = await buffer.take(size);
            const last = await buffer.isEmpty();
            yield segments.open(segment, last);
            if (last) return;
        }
    } finally {
        segments.wipe();
    }
}

/** The cipher of the segments of one file. */
class Segments {
    readonly #key: Uint8Array;
    readonly #nonce: Buffer;
    #number = 0;

    constructor(line: string, key: Uint8Array, salt: Uint8Array, prefix: Uint8Array) {
        if (key.length !== KEY) throw new MalformedFile("the envelope contains no key of 32 bytes");
        const associatedData = createHash("sha256").update(line).digest();
        this.#key = new Uint8Array(hkdfSync("sha256", key, salt, associatedData, KEY));
        this.#nonce = Buffer.alloc(PREFIX + 5);
        this.#nonce.set(prefix);
    }

    /** The next segment. */
    seal(plaintext: Uint8Array, last: boolean): Uint8Array {
        const cipher = createCipheriv("aes-256-gcm", this.#key, this.#next(last));
        return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    }

    /** The plaintext of the next segment. */
    open(segment: Uint8Array, last: boolean): Uint8Array {
        if (segment.length < TAG || (segment.length === TAG && this.#number > 0)) throw notAuthentic();
        const cipher = createDecipheriv("aes-256-gcm", this.#key, this.#next(last));
        cipher.setAuthTag(segment.subarray(segment.length - TAG));
        try {
            return Buffer.concat([cipher.update(segment.subarray(0, segment.length - TAG)), cipher.final()]);
        } catch {
            throw notAuthentic();
        }
    }

    /** Overwrites the key. */
    wipe(): void {
        this.#key.fill(0);
    }

    #next(last: boolean): Buffer {
        this.#nonce.writeUInt32BE(this.#number, PREFIX);
        this.#nonce[PREFIX + 4] = last ? 1 : 0;
        this.#number += 1;
        return this.#nonce;
    }
}

function notAuthentic(): FileNotAuthentic {
    return new FileNotAuthentic("the sealed file was truncated, extended or changed; this is final");
}

/** The bytes of a stream, in parts of any length. */
class ByteQueue {
    readonly #source: AsyncIterator<Uint8Array>;
    #chunks: Uint8Array[] = [];
    #length = 0;
    #ended = false;

    constructor(source: AsyncIterable<Uint8Array>) {
        this.#source = source[Symbol.asyncIterator]();
    }

    /** The next bytes, fewer only at the end. */
    async take(size: number): Promise<Uint8Array> {
        while (this.#length < size && !this.#ended) await this.#pull();
        const all = Buffer.concat(this.#chunks);
        const rest = all.subarray(size);
        this.#chunks = rest.length > 0 ? [rest] : [];
        this.#length = rest.length;
        return all.subarray(0, size);
    }

    /** The bytes up to a line feed, at most `limit`. Without one, fewer bytes and no line feed. */
    async takeLine(limit: number): Promise<string> {
        for (;;) {
            const all = Buffer.concat(this.#chunks);
            const end = all.indexOf(LINE_FEED);
            if (end >= 0 && end < limit) return Buffer.from(await this.take(end + 1)).toString("latin1");
            if (this.#ended || all.length >= limit) return "";
            this.#chunks = [all];
            await this.#pull();
        }
    }

    /** Whether no bytes follow. */
    async isEmpty(): Promise<boolean> {
        while (this.#length === 0 && !this.#ended) await this.#pull();
        return this.#length === 0;
    }

    async #pull(): Promise<void> {
        const next = await this.#source.next();
        if (next.done === true) {
            this.#ended = true;
        } else {
            this.#chunks.push(next.value);
            this.#length += next.value.length;
        }
    }
}
