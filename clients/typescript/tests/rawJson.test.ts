/** JSON text that is sent as it is. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { InvalidRequest, RawJson } from "sealward";

describe("raw JSON", () => {
    it("is refused without its text in the error", () => {
        for (const text of ['{"card": 4111', "4111 1111", ""]) {
            assert.throws(() => new RawJson(text), (error: unknown) => {
                assert.ok(error instanceof InvalidRequest);
                assert.equal(error.message, "the text is not one JSON value");
                return true;
            });
        }
    });

    it("cannot be lost as a part of another value", () => {
        assert.throws(() => JSON.stringify({ card: new RawJson("4111") }), TypeError);
    });
});
