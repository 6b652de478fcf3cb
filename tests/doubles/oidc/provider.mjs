// An OpenID Connect provider on this machine, with six people and without passwords.
// node provider.mjs HOME CERTIFICATE KEY PORT [--commands]
// Prints its issuer. With --commands, it answers commands on standard input and ends with it:
// "rotate" replaces the signing keys, "advance SECONDS" moves its clock, "pairwise" gives people other
// subjects in access tokens, "groups PERSON GROUP,..." moves a person to groups, and "sign CLAIMS" prints a
// token with claims beside those that every logout token has.
import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [home, certificate, key, port, option] = process.argv.slice(2);
const { default: Provider, interactionPolicy } = await import(
  pathToFileURL(`${home}/node_modules/oidc-provider/lib/index.js`)
);

const people = {
  olivia: { name: "Olivia Owner", groups: ["sealward-owners"] },
  carla: { name: "Carla Custodian", groups: ["staff", "sealward-custodians"] },
  carlos: { name: "Carlos Custodian", groups: ["sealward-custodians"] },
  paula: { name: "Paula Policy", groups: ["sealward-policies"] },
  amir: { name: "Amir Auditor", groups: ["sealward-auditors"] },
  guest: { name: "Guest without a role", groups: ["staff"] },
};

let offset = 0;
const now = Date.now;
Date.now = () => now() + offset;

let signingKey;
const newSigningKey = () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  signingKey = { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "RS256", use: "sig" };
  return signingKey;
};

const signed = (issuer, claims) => {
  const iat = Math.floor(Date.now() / 1000);
  const all = { iss: issuer, aud: client.client_id, iat, jti: randomUUID(), ...claims };
  for (const [name, value] of Object.entries(all)) if (value === null) delete all[name];
  const header = { alg: "RS256", typ: "logout+jwt", kid: signingKey.kid };
  const parts = [header, all].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const text = parts.join(".");
  const key = createPrivateKey({ key: signingKey, format: "jwk" });
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
};

const client = {
  client_id: "sealward",
  client_secret: "sealward-secret",
  grant_types: ["authorization_code"],
  response_types: ["code"],
  // Redirect URIs of a native client match every port.
  application_type: "native",
  backchannel_logout_uri: "https://localhost/dashboard/backchannel-logout",
  backchannel_logout_session_required: true,
  redirect_uris: ["127.0.0.1", "localhost"].map((host) => `http://${host}/dashboard/sign-in/callback`),
};

const resourceServer = {
  scope: "sealward",
  audience: "https://sealward.test/admin",
  accessTokenFormat: "jwt",
  accessTokenTTL: 600,
};

const grantAll = async (ctx) => {
  const { client, session, params } = ctx.oidc;
  const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope("openid profile groups");
  if (params.resource) grant.addResourceScope(params.resource, resourceServer.scope);
  await grant.save();
  return grant;
};

// A native client otherwise always shows a page, and "prompt=none" fails.
const withoutPages = () => {
  const policy = interactionPolicy.base();
  policy.get("consent").checks.remove("native_client_prompt");
  return policy;
};

function start(issuer, isPairwise = false) {
  const provider = new Provider(issuer, {
    clients: [client],
    jwks: { keys: [newSigningKey()] },
    cookies: { keys: ["only for tests"] },
    claims: { openid: ["sub"], profile: ["name"], groups: ["groups"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    ttl: { AuthorizationCode: 60, IdToken: 600, AccessToken: 600, Interaction: 600, Grant: 86400, Session: 86400 },
    features: {
      devInteractions: { enabled: false },
      // ID tokens name the session.
      backchannelLogout: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: () => resourceServer, useGrantedResource: () => true },
    },
    extraTokenClaims: (ctx, token) => ({ groups: people[token.accountId]?.groups ?? [] }),
    subjectTypes: isPairwise ? ["public", "pairwise"] : ["public"],
    formats: {
      customizers: {
        jwt: (ctx, token, jwt) => {
          if (isPairwise) jwt.payload.sub = `${token.accountId} of ${jwt.payload.aud}`;
        },
      },
    },
    interactions: { policy: withoutPages(), url: (_, interaction) => `/people/${interaction.uid}` },
    loadExistingGrant: grantAll,
    findAccount: (_, id) =>
      people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  });
  provider.use(choosePerson(provider));
  return provider.callback();
}

// The page on which a person is chosen, in place of a password.
const choosePerson = (provider) => async (ctx, next) => {
  if (!ctx.path.startsWith("/people/")) return next();
  const person = ctx.query.person;
  if (people[person]) {
    const result = { login: { accountId: person }, consent: {} };
    return provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
  }
  const links = Object.entries(people).map(
    ([id, { name }]) => `<p><a id="${id}" href="?person=${id}">${name}</a></p>`,
  );
  ctx.type = "html";
  ctx.body = `<!doctype html><html lang="en"><title>Sign in</title><h1>Who signs in?</h1>${links.join("")}</html>`;
};

let handle;
const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
const server = createServer(tls, (request, response) => handle(request, response));
server.listen(Number(port), "127.0.0.1", () => {
  const issuer = `https://localhost:${server.address().port}`;
  handle = start(issuer);
  console.log(issuer);
  if (option !== "--commands") return;
  const commands = createInterface({ input: process.stdin });
  commands.on("line", (line) => {
    const [command, argument, more] = line.split(" ");
    if (command === "sign") return console.log(signed(issuer, JSON.parse(line.slice("sign ".length))));
    if (command === "groups") people[argument].groups = more ? more.split(",") : [];
    if (command === "rotate") handle = start(issuer);
    if (command === "pairwise") handle = start(issuer, true);
    if (command === "advance") offset += Number(argument) * 1000;
    console.log("done");
  });
  commands.on("close", () => process.exit(0));
});
