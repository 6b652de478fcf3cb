/**
 * Client for Sealward, a service that protects data with keys in an HSM.
 *
 * @packageDocumentation
 */

export { Client } from "./client.js";
export { ApiKey, ApiKeyFile, TokenFile } from "./credentials.js";
export type { ClientCertificate, CredentialProvider, Environment } from "./credentials.js";
export { DataKeyCache } from "./dataKeys.js";
export type { DataKeyCounters, DataKeyLimits } from "./dataKeys.js";
export * from "./errors.js";
export type { CallOptions } from "./exchange.js";
export type { Progress } from "./files.js";
export { DataKey, PassedThrough, Plaintext } from "./models.js";
export type * from "./models.js";
export type * from "./options.js";
export { RawJson } from "./rawJson.js";
export type { Json, Payload } from "./rawJson.js";
export { VERSION } from "./version.js";
