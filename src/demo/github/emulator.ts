import { createPrivateKey } from 'node:crypto';
import { createEmulator } from 'emulate';
import { SignJWT } from 'jose';
import { isObject } from '../../kit/json-object.ts';
import { systemClock } from '../../kit/clock.ts';
import { hasCode } from '../../kit/errors.ts';
import { freePort } from '../../kit/free-port.ts';
import { textAt, type JsonObject } from './exchange.ts';

/** What `emulate` is started with. It stores nothing on disk. */
interface EmulatorSettings {
  /** The gateway's address, which URLs in responses begin with. */
  url: string;
  app: {
    id: number;
    slug: string;
    name: string;
    permissions: Readonly<Record<string, string>>;
    events: readonly string[];
  };
  /** The App's installations, one per organization. */
  installations: readonly { id: number; owner: string }[];
  /** Personal tokens by login. The first person is the administrator of all organizations. */
  personalTokens: ReadonlyMap<string, string>;
}

/** GitHub's own App, whose tokens the jobs of workflows get, with what the documented workflow permits them. */
const actionsApp = {
  id: 15_368,
  slug: 'github-actions',
  name: 'GitHub Actions',
  permissions: { metadata: 'read', contents: 'read', pull_requests: 'write', deployments: 'write' },
  events: [],
};

/** Who writes with the token of a job. */
export const actionsBot = `${actionsApp.slug}[bot]`;

/** The id of the installation of GitHub's own App where that of ours has another. */
const jobInstallationOf = (installationId: number): number => installationId + 10_000;

/** The package `emulate` on its own port: it emulates tokens, repositories, pull requests, comments and check runs. */
export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/** Starts `emulate` on a free port. URLs in its responses begin with the gateway's address, not its own. */
export async function startEmulator(settings: EmulatorSettings) {
  const { emulator, port } = await start(settings, 3);
  const keyOf = (appId: number): string => {
    const made = emulator.generatedSecrets.find(
      ({ kind, id }) => kind === 'github.app_private_key' && id === String(appId),
    );
    if (!made) throw new Error(`emulate made no key for App ${appId}`);
    return made.value;
  };
  /** @param authorization the header that the gateway received, or one with a personal token. */
  const request = async (
    method: string,
    path: string,
    authorization: string | undefined,
    body?: JsonObject,
  ): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    if (isObject(parsed) && 'documentation_url' in parsed) parsed['documentation_url'] = 'https://docs.github.com/rest';
    return { status: response.status, body: parsed };
  };
  return {
    /** The App's private key, generated at each start. */
    privateKey: keyOf(settings.app.id),
    /** @param authorization the header that the gateway received, or one with a personal token. */
    request,
    /** Makes the token of a job, where our App has this installation. */
    async jobToken(installationId: number): Promise<string> {
      const seconds = Math.floor(systemClock.now() / 1000);
      const key = createPrivateKey(keyOf(actionsApp.id));
      const signed = await new SignJWT({ iss: String(actionsApp.id), iat: seconds - 30, exp: seconds + 300 })
        .setProtectedHeader({ alg: 'RS256' })
        .sign(key);
      const path = `/app/installations/${jobInstallationOf(installationId)}/access_tokens`;
      const { status, body } = await request('POST', path, `Bearer ${signed}`, {});
      const token = isObject(body) ? textAt(body, 'token') : undefined;
      if (token === undefined) throw new Error(`emulate answered POST ${path} with ${status}`);
      return token;
    },
    stop: () => emulator.close(),
  };
}

async function start(settings: EmulatorSettings, tries: number) {
  const port = await freePort();
  try {
    const seed = emulatorSeed(settings);
    return { emulator: await createEmulator({ service: 'github', port, baseUrl: settings.url, seed }), port };
  } catch (error) {
    // Another process may have taken the port in the meantime.
    if (!hasCode(error, 'EADDRINUSE') || tries <= 1) throw error;
    return start(settings, tries - 1);
  }
}

function emulatorSeed({ app, installations, personalTokens }: EmulatorSettings) {
  const members = [...personalTokens.keys()].slice(0, 1).map((login) => ({ login, role: 'admin' as const }));
  return {
    tokens: Object.fromEntries(
      [...personalTokens].map(([login, token]) => [token, { login, scopes: ['repo', 'user', 'admin:org'] }]),
    ),
    github: {
      users: [...personalTokens.keys()].map((login) => ({
        login,
        name: login,
        email: `${login}@users.noreply.github.com`,
      })),
      orgs: installations.map(({ owner }) => ({ login: owner, name: owner, members })),
      apps: [
        appSeed(app, installations),
        appSeed(
          actionsApp,
          installations.map(({ id, owner }) => ({ id: jobInstallationOf(id), owner })),
        ),
      ],
    },
  };
}

const appSeed = (
  { id, slug, name, permissions, events }: EmulatorSettings['app'],
  installations: EmulatorSettings['installations'],
) => ({
  app_id: id,
  slug,
  name,
  permissions,
  events: [...events],
  installations: installations.map((each) => ({
    installation_id: each.id,
    account: each.owner,
    repository_selection: 'all' as const,
    permissions,
    events: [...events],
  })),
});
