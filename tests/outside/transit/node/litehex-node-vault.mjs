// @litehex/node-vault checks requests and responses with schemas, and sends JSON as text/plain.

import assert from "node:assert/strict";
import { Client } from "@litehex/node-vault";

const { VAULT_ADDR: endpoint, VAULT_TOKEN: token } = process.env;
const client = new Client({ endpoint, token });
const transit = (call, fields) => client.transit[call]({ mountPath: "transit", ...fields }).then(unwrap);

function unwrap({ data, error }) {
  assert.equal(error, undefined);
  return data.data ?? data;
}

assert.ok((await transit("listKeys", {})).keys.includes("data"));
assert.equal(unwrap(await client.sealStatus()).sealed, false);
// It refuses answers without the member mount_type, which Vault sends, and OpenBao and Sealward do not.
const refused = await client.transit.encrypt({ mountPath: "transit", name: "data", plaintext: btoa("card") });
assert.match(JSON.stringify(refused.error.cause), /mount_type/);
