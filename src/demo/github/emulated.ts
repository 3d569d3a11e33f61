import { createEmulator } from 'emulate';
import { isObject } from '../../kit/json-object.ts';
import { hasCode } from '../../kit/errors.ts';
import { freePort } from '../../kit/free-port.ts';
import type { JsonObject } from './exchange.ts';

/** What `emulate` is started with. Nothing in it is kept anywhere. */
interface EmulatedSettings {
  /** The gateway's address, which the answers name. */
  url: string;
  app: {
    id: number;
    slug: string;
    name: string;
    permissions: Readonly<Record<string, string>>;
    events: readonly string[];
  };
  /** The App's installations, each of an organization of its own. */
  installations: readonly { id: number; owner: string }[];
  /** Tokens of people by their login. The first is the administrator of all organizations. */
  people: ReadonlyMap<string, string>;
}

/** `emulate` on its own port: callers, tokens, repositories, pull requests, comments and check runs. */
export type Emulated = Awaited<ReturnType<typeof startEmulated>>;

/** Starts it. Its answers name the gateway's address, so its own port is chosen before. */
export async function startEmulated(settings: EmulatedSettings) {
  const { emulator, port } = await start(settings, 3);
  const privateKey = emulator.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value;
  if (privateKey === undefined) throw new Error('emulate made no key for the App');
  return {
    /** The App's key, made for this start. */
    privateKey,
    /** @param authorization the header, as the gateway was sent it or for a person of the settings. */
    async ask(
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

async function start(settings: EmulatedSettings, tries: number) {
  const port = await freePort();
  try {
    const seed = seedOf(settings);
    return { emulator: await createEmulator({ service: 'github', port, baseUrl: settings.url, seed }), port };
  } catch (error) {
    // Another process may have taken the port in the meantime.
    if (!hasCode(error, 'EADDRINUSE') || tries <= 1) throw error;
    return start(settings, tries - 1);
  }
}

function seedOf({ app, installations, people }: EmulatedSettings) {
  const { permissions, events } = app;
  const members = [...people.keys()].slice(0, 1).map((login) => ({ login, role: 'admin' as const }));
  return {
    tokens: Object.fromEntries(
      [...people].map(([login, token]) => [token, { login, scopes: ['repo', 'user', 'admin:org'] }]),
    ),
    github: {
      users: [...people.keys()].map((login) => ({ login, name: login, email: `${login}@users.noreply.github.com` })),
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
