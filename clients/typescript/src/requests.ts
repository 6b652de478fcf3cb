/** The requests of the runtime API. */

import { encode } from "./encoding.js";
import type { Request } from "./exchange.js";
import type { ProtectRequest, RewrapRequest, UnprotectRequest } from "./models.js";
import type { Sealed } from "./options.js";
import { base64, encodeObject } from "./rawJson.js";

const API = "/api/v1";

/** A request of the runtime API with a body. */
export function post(path: string, body: string, opening = false): Request {
    return { method: "POST", path: API + path, body, opening };
}

/** A request of the runtime API without a body. */
export function get(path: string): Request {
    return { method: "GET", path: API + path };
}

/** A request for the public keys of a service. */
export function getKeys(serviceId: string): Request {
    return { method: "GET", path: `/.well-known/jwks/${encodeURIComponent(serviceId)}`, anonymous: true };
}

/** A request of a generic operation. */
export function operation(name: string, payload: Readonly<Record<string, unknown>>): Request {
    const encoding = payload["data"] instanceof Uint8Array ? "base64" : payload["encoding"];
    const members = texts({ ...payload, encoding });
    // Undefined data is no data that is left out.
    if ("data" in payload) members["data"] = encode(payload["data"]);
    return post("/operations", encodeObject({ operation: JSON.stringify(name), payload: encodeObject(members) }));
}

/** The JSON text of a request. It names its members, because objects of callers can have more. */
export function protectBody({ payload, policyNumber, context }: ProtectRequest): string {
    return encodeObject({ payload: encode(payload), ...texts({ policyNumber, context }) });
}

/** The JSON text of a request. */
export function unprotectBody({ jwe, protectedPayload, policyNumber, context }: UnprotectRequest): string {
    return toJson({ jwe, protectedPayload, policyNumber, context });
}

/** The JSON text of a request. */
export function rewrapBody(request: RewrapRequest): string {
    const { jwe, protectedPayload, policyNumber, toPolicyNumber, context, toContext } = request;
    return toJson({ jwe, protectedPayload, policyNumber, toPolicyNumber, context, toContext });
}

/** The member of a request that has the envelope. */
export function formOf(sealed: Sealed): UnprotectRequest {
    return typeof sealed === "string" ? { protectedPayload: sealed } : { jwe: sealed };
}

/** The JSON text of an object, with bytes in base64. Omits members that are undefined. */
export function toJson(members: object): string {
    return encodeObject(texts(members));
}

function texts(members: object): Record<string, string | undefined> {
    return Object.fromEntries(
        Object.entries(members).map(([name, value]: [string, unknown]) => [name, value === undefined ? undefined : text(value)]),
    );
}

function text(value: unknown): string {
    return value instanceof Uint8Array ? JSON.stringify(base64(value)) : encode(value);
}
