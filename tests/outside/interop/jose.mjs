// npm jose as a peer: reads one order a line and answers each with one line.
import { webcrypto } from "node:crypto";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// jose expects the Web Crypto API in a global variable, which Node.js 18 does not set.
globalThis.crypto ??= webcrypto;
const path = createRequire(`${process.argv[2]}/`).resolve("jose");
const jose = await import(pathToFileURL(path));
const bytes = (text) => new TextEncoder().encode(text);

async function seal({ alg, enc, publicKey, plaintext, header, apu, apv }) {
  const encrypt = new jose.FlattenedEncrypt(bytes(plaintext));
  encrypt.setProtectedHeader({ alg, enc, ...header });
  if (apu || apv) {
    encrypt.setKeyManagementParameters({ apu: bytes(apu), apv: bytes(apv) });
  }
  return encrypt.encrypt(await jose.importSPKI(publicKey, alg));
}

async function open({ alg, privateKey, jwe }) {
  const decrypt = typeof jwe === "string" ? jose.compactDecrypt : jose.flattenedDecrypt;
  const { plaintext } = await decrypt(jwe, await jose.importPKCS8(privateKey, alg));
  return new TextDecoder().decode(plaintext);
}

async function verify({ alg, jwk, jws }) {
  const { payload } = await jose.compactVerify(jws, await jose.importJWK(jwk, alg));
  return new TextDecoder().decode(payload);
}

const orders = { seal, open, verify };
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  const done = await orders[order.do](order);
  console.log(JSON.stringify(done));
}
