// node-vault: encryption, keys, a token and AppRole. Its paths contain the mount `transit`.

import assert from "node:assert/strict";
import vault from "node-vault";

const { VAULT_ADDR: endpoint, VAULT_TOKEN: token, VAULT_ROLE_ID: role_id, VAULT_SECRET_ID: secret_id } = process.env;
const plaintext = Buffer.from("card").toString("base64");

async function roundTrip(client) {
  const { ciphertext } = (await client.encryptData({ name: "data", plaintext })).data;
  assert.match(ciphertext, /^vault:v1:/);
  assert.equal((await client.decryptData({ name: "data", ciphertext })).data.plaintext, plaintext);
  const again = (await client.rewrapData({ name: "data", ciphertext })).data.ciphertext;
  assert.notEqual(again, ciphertext);
}

const client = vault({ endpoint, token });
await roundTrip(client);
assert.equal((await client.transitReadKey({ name: "ec" })).data.type, "ecdsa-p256");
assert.ok((await client.transitListKeys()).data.keys.includes("data"));
assert.equal((await client.health()).sealed, false);
assert.ok((await client.tokenLookupSelf()).data.ttl > 0);
await client.tokenRenewSelf();

const application = vault({ endpoint });
application.token = (await application.approleLogin({ role_id, secret_id })).auth.client_token;
await roundTrip(application);

await assert.rejects(client.encryptData({ name: "missing", plaintext }), { message: "encryption key not found" });
await assert.rejects(vault({ endpoint, token: "wrong" }).transitListKeys(), (error) => error.response.statusCode === 403);
