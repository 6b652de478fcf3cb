/** Every conformance case passes. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";

import { known } from "./known.js";
import { run } from "./runner.js";
import { CONFORMANCE, Server } from "./server.js";

const LANGUAGE = "typescript";
const { SEALWARD_WORLD: world, SEALWARD_OPENAPI: openapi } = process.env;

interface Cases {
    readonly languages: Readonly<Record<string, readonly string[]>>;
    readonly cases: readonly { readonly name: string; readonly part: string }[];
}

interface Report {
    readonly missing: readonly string[];
    readonly failed: Readonly<Record<string, readonly string[]>>;
}

const { languages, cases } = JSON.parse(readFileSync(`${CONFORMANCE}/cases.json`, "utf8")) as Cases;
const parts = [...(languages[LANGUAGE] ?? []), ...(world ? ["live"] : [])];

describe("conformance", () => {
    let server: Server;
    before(async () => {
        context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
        const options = { "--service": world, "--openapi": openapi };
        server = await Server.start(...Object.entries(options).flatMap(([name, file]) => (file ? [name, file] : [])));
    });
    after(() => server.stop());

    for (const { name } of cases.filter(({ part }) => parts.includes(part))) {
        it(name, async () => {
            assert.deepEqual(await run(server, name), []);
        });
    }

    if (openapi) {
        it("knows every member of the OpenAPI document", async () => {
            const { problems } = await server.post<{ problems: string[] }>(`known/${LANGUAGE}`, known());
            assert.deepEqual(problems, []);
        });
    }

    it("ran every case", async () => {
        const { missing, failed } = await server.get<Report>(`report/${LANGUAGE}`);
        assert.deepEqual({ missing, failed }, { missing: [], failed: {} });
    });
});
