import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { vi } from 'vitest';
import { Repository } from '../../../src/demo/repository.ts';
import { startReceiver, type Receiver } from '../../services/agent/webhooks/receiver.ts';
import { linkPackages } from '../../installed-packages.ts';
import { openServed } from '../control-plane/service.ts';

/** The sources of the agent that others' clients talk to. */
export const manySided = join(import.meta.dirname, 'agent');

/** One agent, deployed by the real service; its clients know nothing but its address and a key. */
export interface Deployed {
  /** Where the control service says that it answers. */
  url: string;
  apiKey: string;
  /** The only place that its webhooks may go to. */
  receiver: Receiver;
  close(): Promise<void>;
}

/** Starts the services and deploys the agent from a git repository. The caller closes it. */
export async function openDeployed(): Promise<Deployed> {
  const receiver = await startReceiver();
  const served = await openServed('contract');
  const close = async () => {
    await served.close();
    await receiver.close();
  };
  try {
    const folder = join(served.folder, 'git/acme/many-sided');
    const repository = await Repository.fromExample(manySided, folder);
    await served.agent('../../partners/agent-clients/agent', folder);
    const webhooks = { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port], require_https: false } };
    const config = join(folder, 'langgraph.json');
    await writeFile(config, JSON.stringify({ ...JSON.parse(await readFile(config, 'utf8')), webhooks }));
    await repository.commit('Say where webhooks may go');
    const made = await served.control.createDeployment({
      name: 'many-sided',
      source: 'github',
      source_config: { repo_url: pathToFileURL(folder).href, build_on_push: false, install_command: linkPackages },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [],
    });
    await vi.waitFor(
      async () => {
        const { status, status_message } = await served.control.getRevision(made.id, made.latest_revision_id ?? '');
        if (status !== 'DEPLOYED') throw new Error(`it is ${status}: ${status_message}`);
      },
      { timeout: 90_000, interval: 200 },
    );
    const url = (await served.control.getDeployment(made.id)).source_config.custom_url ?? '';
    return { url, apiKey: served.apiKey, receiver, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The groups of the official client. */
export const groups = ['assistants', 'threads', 'runs', 'crons', 'store'] as const;

/** An official client, and which of its methods were called, as `group.method`. */
export interface Watched {
  client: Client;
  called: Set<string>;
}

/** The official client of an address. It tries nothing twice, so that what fails is seen. */
export function watchedClient(apiUrl: string, apiKey: string): Watched {
  const client = new Client({ apiUrl, apiKey, callerOptions: { maxRetries: 0 } });
  const called = new Set<string>();
  for (const group of groups) {
    for (const method of methodsOf(client, group)) {
      const known: unknown = Reflect.get(client[group], method);
      if (typeof known !== 'function') continue;
      Reflect.set(client[group], method, (...args: unknown[]): unknown => {
        called.add(`${group}.${method}`);
        return Reflect.apply(known, client[group], args);
      });
    }
  }
  return { client, called };
}

/** The methods that a group offers to those who use the client. */
export const methodsOf = (client: Client, group: (typeof groups)[number]): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(client[group])).filter((name) => name !== 'constructor');

/** The words with which a call was refused. */
export const refusalOf = (call: Promise<unknown>): Promise<{ status: unknown; words: string }> =>
  call.then(
    () => ({ status: 'none', words: 'it was not refused' }),
    (error: unknown) => ({ status: Reflect.get(Object(error), 'status'), words: String(error) }),
  );
