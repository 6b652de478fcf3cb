// The HashiCorp Vault driver of Confluent's client-side field-level encryption, with a token and with AppRole.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// The package exports the driver only to CommonJS.
const { HcVaultDriver } = createRequire(import.meta.url)("@confluentinc/schemaregistry");

async function roundTrip(settings) {
  const uri = `hcvault://${process.env.VAULT_ADDR}/transit/keys/data`;
  const client = new HcVaultDriver().newKmsClient(new Map(Object.entries(settings)), uri);
  const sealed = await client.encrypt(Buffer.from("a data encryption key"));
  assert.match(sealed.toString(), /^vault:v1:/);
  assert.equal((await client.decrypt(sealed)).toString(), "a data encryption key");
}

await roundTrip({});
const { VAULT_ROLE_ID, VAULT_SECRET_ID } = process.env;
delete process.env.VAULT_TOKEN;
await roundTrip({ "approle.role.id": VAULT_ROLE_ID, "approle.secret.id": VAULT_SECRET_ID });
