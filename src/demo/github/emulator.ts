import { createEmulator } from 'emulate';
import { isObject } from '../../kit/json-object.ts';
import { hasCode } from '../../kit/errors.ts';
import { freePort } from '../../kit/free-port.ts';
import type { JsonObject } from './exchange.ts';

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

/** The package `emulate` on its own port: it emulates tokens, repositories, pull requests, comments and check runs. */
export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/** Starts `emulate` on a free port. URLs in its responses begin with the gateway's address, not its own. */
export async function startEmulator(settings: EmulatorSettings) {
  const { emulator, port } = await start(settings, 3);
  const privateKey = emulator.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value;
  if (privateKey === undefined) throw new Error('emulate made no key for the App');
  return {
    /** The App's private key, generated at each start. */
    privateKey,
    /** @param authorization the header that the gateway received, or one with a personal token. */
    async request(
      method: string,
      path: string,
      authorization: string | undefined,
      body?: JsonObject,
    ): Promise<{ status: number; body: unknown }> {
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
      if (isObject(parsed) && 'documentation_url' in parsed)
        parsed['documentation_url'] = 'https://docs.github.com/rest';
      return { status: response.status, body: parsed };
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
  const { permissions, events } = app;
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
        {
          app_id: app.id,
          slug: app.slug,
          name: app.name,
          permissions,
          events,
          installations: installations.map(({ id, owner }) => ({
            installation_id: id,
            account: owner,
            repository_selection: 'all',
            permissions,
            events,
          })),
        },
      ],
    },
  };
}
