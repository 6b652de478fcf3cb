/** Files on a disk. */

import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Receives the number of plaintext bytes so far, after each part. */
export type Progress = (bytes: number) => void;

/** The content of a file. */
export function contentOf(path: string): AsyncIterable<Uint8Array> {
    return createReadStream(path, { highWaterMark: 2 ** 18 }) as AsyncIterable<Uint8Array>;
}

/** Passes a stream on, and reports its progress. */
export async function* counted(
    source: AsyncIterable<Uint8Array>,
    progress: Progress | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
    let bytes = 0;
    for await (const part of source) {
        yield part;
        bytes += part.length;
        progress?.(bytes);
    }
}

/** Writes a new file beside the target. It replaces the target when it is complete, and else goes away. */
export async function writeBeside(target: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const beside = join(dirname(target), `.${basename(target)}.${randomBytes(8).toString("hex")}`);
    const file = await open(beside, "wx", 0o600);
    try {
        try {
            for await (const part of content) await file.writeFile(part);
            await file.sync();
        } finally {
            await file.close();
        }
        await rename(beside, target);
    } catch (error) {
        await rm(beside, { force: true });
        throw error;
    }
}
