/** Splits batches that exceed the limits of one request. */

const MAX_ITEMS = 1000;
const MAX_BYTES = 16 * 2 ** 20;
const FRAME = Buffer.byteLength('{"items":[]}');

/** The bodies for JSON texts of items, and the number of items in each. */
export function* batches(items: Iterable<string>): Generator<{ body: string; count: number }> {
    let batch: string[] = [];
    let size = FRAME;
    for (const item of items) {
        const length = Buffer.byteLength(item) + 1;
        if (batch.length > 0 && (batch.length === MAX_ITEMS || size + length > MAX_BYTES)) {
            yield bodyOf(batch);
            [batch, size] = [[], FRAME];
        }
        batch.push(item);
        size += length;
    }
    if (batch.length > 0) yield bodyOf(batch);
}

function bodyOf(items: readonly string[]): { body: string; count: number } {
    return { body: `{"items":[${items.join(",")}]}`, count: items.length };
}
