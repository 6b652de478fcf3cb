/** What the library knows of the OpenAPI document, as its declarations state it. */

import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import ts from "typescript";

const OPERATIONS: Readonly<Record<string, string>> = {
    caller: "readCaller",
    dataKey: "makeDataKey",
    policy: "readProtectionPolicy",
    encrypt: "operate",
};

// Objects that functions read or write, instead of an interface of the same name: see `answers.ts`, `requests.ts`
// and `apiError` in `exchange.ts`.
const PROTECTED = ["messageType", "operations", "jwe", "payload", "warning", "dropped", "message"];
const WITHOUT_INTERFACE: Readonly<Record<string, readonly string[]>> = {
    ProtectedPayload: ["requestId", ...PROTECTED],
    ProtectedItem: ["status", "error", ...PROTECTED],
    Unprotected: ["requestId", "operations", "payload"],
    UnprotectedItem: ["status", "error", "operations", "payload"],
    RewrappedPayload: ["requestId", "messageType", "operations", "jwe"],
    RewrappedItem: ["status", "error", "messageType", "operations", "jwe"],
    ...named(["Protect", "Unprotect", "Rewrap"], "Batch", ["items"]),
    ...named(["Protected", "Unprotected", "Rewrapped"], "Batch", ["requestId", "items"]),
    ...named(["Encrypt", "Decrypt", "Sign", "Verify", "Hash"], "Request", ["operation", "payload"]),
    OperationAnswer: ["requestId", "result", "timestamp"],
    ErrorResponse: ["requestId", "error"],
    ErrorObject: ["code", "message", "details"],
};

/** What `POST /_conformance/known/LANGUAGE` takes. */
export function known(): { operations: string[]; schemas: Record<string, readonly string[]> } {
    const main = createRequire(import.meta.url).resolve("sealward");
    const program = ts.createProgram([join(dirname(main), "index.d.ts")], { module: ts.ModuleKind.Node16 });
    const checker = program.getTypeChecker();
    const [entry] = program.getRootFileNames();
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry ?? "") as ts.Node) as ts.Symbol;
    const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]));
    const members = (name: string): string[] => {
        const symbol = exported.get(name) as ts.Symbol;
        const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
        return checker.getDeclaredTypeOfSymbol(target).getProperties().map(({ name }) => name);
    };
    const schemas = Object.fromEntries([...exported.keys()].map((name) => [name, members(name)]));
    const results = ["Encrypted", "Signature", "Digest"].flatMap((name) => members(name));
    return {
        operations: members("Client").map((call) => OPERATIONS[call] ?? call),
        schemas: {
            ...schemas,
            UnprotectItem: members("UnprotectRequest"),
            RewrapItem: members("RewrapRequest"),
            OperationResult: ["data", "valid", ...results],
            ...WITHOUT_INTERFACE,
        },
    };
}

function named(names: readonly string[], suffix: string, members: readonly string[]): Record<string, readonly string[]> {
    return Object.fromEntries(names.map((name) => [name + suffix, members]));
}
