// hashi-vault-js has no Transit calls: its log-in, its token and the state of the server.

import assert from "node:assert/strict";
import Vault from "hashi-vault-js";

const { VAULT_ADDR, VAULT_ROLE_ID, VAULT_SECRET_ID } = process.env;
const vault = new Vault({ baseUrl: `${VAULT_ADDR}/v1`, timeout: 5000 });

assert.equal((await vault.healthCheck()).sealed, false);
assert.equal((await vault.sealStatus()).initialized, true);
const { client_token } = await vault.loginWithAppRole(VAULT_ROLE_ID, VAULT_SECRET_ID);
assert.ok((await vault.lookupSelfToken(client_token)).ttl > 0);
assert.equal((await vault.renewSelfToken(client_token, "60s")).client_token, client_token);
await assert.rejects(vault.lookupSelfToken("wrong"), (error) => error.status === 403);
