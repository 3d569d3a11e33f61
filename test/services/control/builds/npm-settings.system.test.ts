import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { workplace } from './building.ts';
import { packageHost } from './package-host.ts';
import { commit, plainAgent, write } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

const user = process.geteuid?.() === 0 ? { uid: 45_681, gid: 45_681 } : undefined;
const canary = 'canary-token-of-the-service';

/** Builds with an `.npmrc` in the repository; returns what npm sent as `Authorization` and what the build printed. */
async function authorizationsWith(npmrc: (person: string, host: string) => string) {
  const host = await packageHost('env; cat "$HOME/.npmrc"; npm config ls -l', atTheEnd);
  const here = workplace({ ...plainAgent, ...host.files }, atTheEnd);
  chmodSync(here.root, 0o711);
  const person = join(here.root, 'person');
  const own = `registry=https://registry.example/\n//registry.example/:_authToken=${canary}\n`;
  write(person, { '.npmrc': own });
  chmodSync(person, 0o700);
  commit(here.repo, { '.npmrc': npmrc(person, host.origin.replace('http:', '')) });
  const env = { PATH: process.env.PATH, HOME: person, NPM_TOKEN: canary, NODE_AUTH_TOKEN: canary };
  await here.tryBuild({ request: { user }, settings: { env } });
  return { lines: here.lines.join('\n'), authorizations: host.authorizations };
}

test.each<[string, (person: string, host: string) => string]>([
  ['another registry', (_, host) => `registry=http:${host}/\n`],
  ["a variable of the service's", (_, host) => `${host}/:_authToken=\${NPM_TOKEN}\n`],
  ["another variable of the service's", (_, host) => `${host}/:_authToken=\${NODE_AUTH_TOKEN}\n`],
  ['a token for every host', (_, host) => `always-auth=true\nregistry=http:${host}/\n`],
  ["the service's own file", (person) => `globalconfig=${person}/.npmrc\n`],
])('an .npmrc with %s sends no token of the service', async (_, npmrc) => {
  const { lines, authorizations } = await authorizationsWith(npmrc);
  expect(authorizations.length).toBeGreaterThan(0);
  expect([authorizations.join('\n'), lines].filter((text) => text.includes(canary))).toEqual([]);
});
