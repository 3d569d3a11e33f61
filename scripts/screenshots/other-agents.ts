import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { Repository } from '../../src/demo/repository.ts';
import { requestsTo, until } from '../../src/demo/scenarios.ts';
import { latestEnded } from './support-agent.ts';
import type { Services } from './services.ts';

const lea = 'Lea Novak <lea@example.com>';

interface Deployed {
  name: string;
  message: string;
  buildCommand?: string;
  change?: (repository: Repository) => Promise<void>;
}

/** Deploys the echo agent under a name. */
async function deployEcho(services: Services, { name, message, buildCommand, change }: Deployed): Promise<string> {
  const { root, git, control } = services;
  const repository = await Repository.fromExample(join(root, 'examples/echo-agent'), join(git, 'acme', name));
  await repository.edit('README.md', /^# .*/, `# ${name}`);
  await change?.(repository);
  await repository.commit(message, lea);
  const { id } = await control.createDeployment({
    name,
    source: 'github',
    source_config: {
      repo_url: pathToFileURL(repository.folder).href,
      ...(buildCommand === undefined ? {} : { build_command: buildCommand }),
    },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  return id;
}

/** Deploys an agent with runs (one failed), an assistant of two versions, a cron, items in its store and a webhook. */
export async function deployGreeter(services: Services): Promise<string> {
  const { service, receiver } = services;
  const id = await deployEcho(services, {
    name: 'greeter',
    message: 'Greet by name',
    change: (repository) =>
      repository.edit(
        'langgraph.json',
        '"allowed_domains": ["*.example.com"]',
        `"allowed_ports": [443, ${receiver.port}], "allowed_domains": ["127.0.0.1"]`,
      ),
  });
  await latestEnded(services, id);
  const agent = requestsTo(`${service.url}/agents/${id}`, service);
  const assistant = z.looseObject({ assistant_id: z.string() });
  const evening = { graph_id: 'echo', name: 'evening', context: { greeting: 'good day' } };
  const { assistant_id } = await agent.ask('/assistants', assistant, evening);
  await agent.ask(`/assistants/${assistant_id}`, assistant, { context: { greeting: 'good evening' } }, 'PATCH');
  const cron = { assistant_id, schedule: '30 8 * * 1-5', timezone: 'Europe/Berlin', input: { input: 'team' } };
  await agent.ask('/runs/crons', z.unknown(), cron);
  const items = [
    [['users', 'ada'], 'language', { code: 'pt' }],
    [['users', 'ada'], 'likes', { tea: true, cups: 3 }],
    [['users', 'jonas'], 'language', { code: 'de' }],
  ] as const;
  // PUT answers 204, without a body.
  for (const [namespace, key, value] of items) {
    const body = JSON.stringify({ namespace, key, value });
    const headers = { 'x-api-key': service.apiKey, 'content-type': 'application/json' };
    await fetch(`${service.url}/agents/${id}/store/items`, { method: 'PUT', headers, body });
  }
  const run = (input: object, more: object = {}): Promise<unknown> =>
    agent.send('/runs/wait', { assistant_id: 'echo', input, ...more });
  await run({ input: 'Ada' }, { webhook: receiver.addressFor('hook') });
  await run({ input: 'Jonas', fail: 'The model did not answer.' });
  await run({ input: 'Lea', sleep_ms: 400 });
  await until(() => receiver.received('hook').length > 0);
  return id;
}

/** Deploys one whose build fails. */
export async function deployFailing(services: Services): Promise<void> {
  const change = (repository: Repository): Promise<void> =>
    repository.edit('package.json', '"dependencies": {', '"dependencies": {\n    "@acme/ledger": "0.4.0",');
  const id = await deployEcho(services, { name: 'invoices', message: 'Read the ledger', change });
  await latestEnded(services, id);
}

/** Deploys one whose build goes on until the services stop. */
export async function deployBuilding(services: Services): Promise<void> {
  const id = await deployEcho(services, {
    name: 'research',
    message: 'Search two more sources',
    buildCommand: 'sleep 3600',
  });
  const { control } = services;
  await until(async () => {
    const { latest_revision_id } = await control.getDeployment(id);
    return (await control.getRevision(id, latest_revision_id ?? '')).status === 'BUILDING';
  });
}
