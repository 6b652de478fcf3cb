/** What a client looked up, kept for a minute. */

const MAX_AGE_MS = 60_000;
const MAX_ENTRIES = 1000;

/** Results by name, each at most 60 s old. Failures are not kept. */
export class Lookups<T> {
    readonly #known = new Map<string, { at: number; result: T }>();

    /** The result, and whether it was just looked up. */
    async get(name: string, lookUp: () => Promise<T>): Promise<{ result: T; fresh: boolean }> {
        const found = this.#known.get(name);
        if (found !== undefined && performance.now() - found.at < MAX_AGE_MS) {
            return { result: found.result, fresh: false };
        }
        const at = performance.now();
        const result = await lookUp();
        if (this.#known.size >= MAX_ENTRIES) this.#known.clear();
        this.#known.set(name, { at, result });
        return { result, fresh: true };
    }

    /** Looks the name up again next time. */
    forget(name: string): void {
        this.#known.delete(name);
    }
}
