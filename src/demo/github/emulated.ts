import { createEmulator, type Emulator } from 'emulate';
import { isObject } from '../../contract/json-object.ts';
import { freePort } from '../processes.ts';
import type { JsonObject } from './exchange.ts';

/** What `emulate` is started with. Nothing in it is kept anywhere. */
export interface EmulatedSettings {
  /** The gateway's address, which the answers name. */
  url: string;
  app: {
    id: number;
    slug: string;
    name: string;
    permissions: Readonly<Record<string, string>>;
    events: readonly string[];
  };
  /** Organizations, each with the id of the App's installation there. */
  owners: readonly { login: string; installationId: number }[];
  /** People with the tokens that they push and ask with. The first is the administrator of all owners. */
  people: readonly { login: string; token: string }[];
}

export interface EmulatedAnswer {
  status: number;
  body: unknown;
}

/** `emulate` on its own port: callers, tokens, repositories, pull requests, comments and check runs. */
export interface Emulated {
  /** The App's key, made for this start. */
  privateKey: string;
  /** @param authorization the header, as the gateway was sent it or for a person of the settings. */
  ask(method: string, path: string, authorization: string | undefined, body?: JsonObject): Promise<EmulatedAnswer>;
  stop(): Promise<void>;
}

/** Starts it. Its answers name the gateway's address, so its own port is chosen before. */
export async function startEmulated(settings: EmulatedSettings): Promise<Emulated> {
  const { emulator, port } = await start(settings, 3);
  const privateKey = emulator.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value;
  if (privateKey === undefined) throw new Error('emulate made no key for the App');
  return {
    privateKey,
    async ask(method, path, authorization, body) {
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

async function start(settings: EmulatedSettings, tries: number): Promise<{ emulator: Emulator; port: number }> {
  const port = await freePort();
  try {
    return {
      emulator: await createEmulator({ service: 'github', port, baseUrl: settings.url, seed: seedOf(settings) }),
      port,
    };
  } catch (error) {
    // Another process may have taken the port in the meantime.
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isTaken || tries <= 1) throw error;
    return start(settings, tries - 1);
  }
}

function seedOf({ app, owners, people }: EmulatedSettings) {
  const [admin] = people;
  return {
    tokens: Object.fromEntries(
      people.map(({ login, token }) => [token, { login, scopes: ['repo', 'user', 'admin:org'] }]),
    ),
    github: {
      users: people.map(({ login }) => ({ login, name: login, email: `${login}@users.noreply.github.com` })),
      orgs: owners.map(({ login }) => ({
        login,
        name: login,
        members: admin === undefined ? [] : [{ login: admin.login, role: 'admin' }],
      })),
      apps: [
        {
          app_id: app.id,
          slug: app.slug,
          name: app.name,
          permissions: app.permissions,
          events: app.events,
          installations: owners.map(({ login, installationId }) => ({
            installation_id: installationId,
            account: login,
            repository_selection: 'all',
            permissions: app.permissions,
            events: app.events,
          })),
        },
      ],
    },
  };
}
