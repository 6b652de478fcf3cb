/** A cache of data keys. It is off by default. */

import type { DataKey } from "./models.js";

const MAX_ENTRIES = 1000;

/** How many keys the cache had, and how many it asked the service for. */
export interface DataKeyCounters {
    readonly hits: number;
    readonly misses: number;
}

/** The limits of each key for encryption. Opened keys have only an age. */
export interface DataKeyLimits {
    readonly maxAgeMs: number;
    readonly maxMessages: number;
    readonly maxBytes: number;
}

interface Entry {
    readonly key: DataKey;
    readonly made: number;
    messages: number;
    bytes: number;
}

/**
 * Reuses data keys until one of the limits is reached. Concurrent callers that need the same key cause one
 * request. Callers get copies; the cache overwrites a key that it drops.
 */
export class DataKeyCache {
    readonly limits: DataKeyLimits;
    readonly #entries = new Map<string, Entry>();
    readonly #pending = new Map<string, Promise<void>>();
    #hits = 0;
    #misses = 0;

    constructor(limits: DataKeyLimits) {
        this.limits = limits;
    }

    /** What the cache saved so far. */
    get counters(): DataKeyCounters {
        return { hits: this.#hits, misses: this.#misses };
    }

    /** Overwrites and forgets all keys. */
    clear(): void {
        for (const name of this.#entries.keys()) this.#drop(name);
    }

    /** The key of this name, for a message of `bytes` bytes. */
    async get(name: string, bytes: number, make: () => Promise<DataKey>): Promise<DataKey> {
        for (;;) {
            const known = this.#take(name, bytes);
            if (known !== undefined) return known.copy();
            const pending = this.#pending.get(name);
            if (pending === undefined) return this.#make(name, bytes, make);
            await pending;
        }
    }

    async #make(name: string, bytes: number, make: () => Promise<DataKey>): Promise<DataKey> {
        this.#misses += 1;
        const made = performance.now();
        const making = make();
        this.#pending.set(name, making.then(ignore, ignore));
        try {
            const key = await making;
            this.#put(name, { key, made, messages: 1, bytes });
            return key.copy();
        } finally {
            this.#pending.delete(name);
        }
    }

    #take(name: string, bytes: number): DataKey | undefined {
        const entry = this.#entries.get(name);
        if (entry === undefined) return undefined;
        if (performance.now() - entry.made >= this.limits.maxAgeMs) {
            this.#drop(name);
            return undefined;
        }
        const { maxMessages, maxBytes } = this.limits;
        if (entry.messages >= maxMessages || entry.bytes + bytes > maxBytes) return undefined;
        entry.messages += 1;
        entry.bytes += bytes;
        this.#hits += 1;
        this.#entries.delete(name);
        this.#entries.set(name, entry);
        return entry.key;
    }

    #put(name: string, entry: Entry): void {
        this.#drop(name);
        this.#entries.set(name, entry);
        const [oldest] = this.#entries.keys();
        if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#drop(oldest);
    }

    #drop(name: string): void {
        this.#entries.get(name)?.key.wipe();
        this.#entries.delete(name);
    }
}

function ignore(): void {
    // The caller that made the key gets its error; those who wait try again themselves.
}
