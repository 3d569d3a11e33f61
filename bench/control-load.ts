import { loggerTo } from '../test/logger.ts';
// What the control service's commonest requests cost with 10,000 deployments and 100,000 revisions in its database, beside
// a bare Hono route that answers with one indexed query on the same tables.
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { systemClock } from '../src/kit/clock.ts';
import { hashApiKey, makeApiKey } from '../src/services/control/api-keys/api-key.ts';
import { createApp } from '../src/services/control/api/app.ts';
import { createHttpServer } from '../src/services/control/server.ts';
import { createControlService } from '../src/services/control/service.ts';
import { createStore } from '../src/services/control/store/store.ts';
import type { ControlTables } from '../src/services/control/store/tables.ts';
import { openDatabase } from '../src/kit/postgres/database.ts';
import { listening } from './bare-server.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import { contend, startContender } from './contender-process.ts';
import { seedControl } from './control-seed.ts';
import type { Measured } from './figure.ts';
import { startHttpLoad, type SentRequest } from './http-load.ts';
import { rssOf } from './memory-at-rest.ts';
import { interleave, median, sized, spread, type Contender } from './rounds.ts';

const deployments = sized(10_000, 100);
const revisionsEach = 10;
const atOnce = 16;
const pageSize = 20;
const log = loggerTo((message: string): void => console.error(message));

/** The kinds of requests, and how many of them a round sends. */
const kinds = {
  'read-revision': sized(2_000, 20),
  'first-page': sized(400, 4),
  'last-page': sized(400, 4),
  patch: sized(600, 6),
  restate: sized(400, 4),
};
type Kind = keyof typeof kinds;
const isKind = (word: string): word is Kind => word in kinds;

/** Some thousand deployments of the many, with the latest revision of each. */
async function samples(url: string): Promise<{ id: string; revision: string }[]> {
  const database = openDatabase<ControlTables>({ url, max: 1, log });
  const { rows } = await database.pool.query<{ id: string; revision: string }>(
    'select id, latest_revision_id as revision from control.deployments order by id limit 2000',
  );
  await database.close();
  return rows;
}

function requestsOf(
  kind: Kind,
  of: { id: string; revision: string }[],
  headers: Record<string, string>,
): SentRequest[] {
  return Array.from({ length: kinds[kind] }, (_, at): SentRequest => {
    const { id, revision } = of[at % of.length] ?? { id: '', revision: '' };
    const one = `/v2/deployments/${id}`;
    const body = (value: object) => ({
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
    switch (kind) {
      case 'read-revision':
        return { method: 'GET', path: `${one}/revisions/${revision}`, headers };
      case 'first-page':
        return { method: 'GET', path: `/v2/deployments?limit=${pageSize}`, headers };
      case 'last-page':
        return { method: 'GET', path: `/v2/deployments?limit=${pageSize}&offset=${deployments - pageSize}`, headers };
      case 'patch':
        return { method: 'PATCH', path: one, ...body({ source_config: { build_on_push: at % 2 === 0 } }) };
      case 'restate':
        return { method: 'PATCH', path: one, ...body({ source_revision_config: { repo_ref: 'main' } }) };
    }
  });
}

/** Requests per second of one kind, on a server with no other load. */
async function asking(origin: string, requests: readonly SentRequest[]): Promise<Contender> {
  const load = await startHttpLoad(origin);
  return { round: async () => (requests.length / (await load.send(requests, atOnce))) * 1000 };
}

async function startService(url: string): Promise<{ origin: string; headers: Record<string, string> }> {
  const database = openDatabase<ControlTables>({ url, max: 10, log });
  const store = createStore(database.db, systemClock);
  const tenantId = await store.firstTenant();
  if (tenantId === undefined) throw new Error('the database was not seeded');
  const key = makeApiKey();
  await store.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key) });
  const idle = { wake: () => undefined, interrupted: () => undefined };
  const app = createApp({
    serviceFor: (tenant) =>
      createControlService({ store, rollouts: idle, tenantId: tenant, baseUrl: () => origin, allowGit: [] }),
    findKey: store.findKey,
    fieldNames: 'contract',
    log,
  });
  const server = createHttpServer({ fetch: app.fetch, agents: () => false, basePath: '' });
  const origin = `http://127.0.0.1:${await listening(server)}`;
  return { origin, headers: { 'x-api-key': key.text } };
}

const contenders = {
  ours: async (url = '', kind = '') => {
    if (!isKind(kind)) throw new Error(`there is no kind ${kind}`);
    const { origin, headers } = await startService(url);
    return asking(origin, requestsOf(kind, await samples(url), headers));
  },
  floor: async (url = '') => {
    const database = openDatabase<ControlTables>({ url, max: 10, log });
    const app = new Hono();
    app.get('/revisions/:id', async (context) => {
      const { rows } = await database.pool.query('select * from control.revisions where id = $1', [
        context.req.param('id'),
      ]);
      return context.json(rows[0] ?? null);
    });
    const listener = getRequestListener(app.fetch);
    const server = createServer((request, response) => void listener(request, response));
    const origin = `http://127.0.0.1:${await listening(server)}`;
    const requests = (await samples(url)).map(({ revision }): SentRequest => ({
      method: 'GET',
      path: `/revisions/${revision}`,
      headers: {},
    }));
    return asking(origin, requests);
  },
  /** The memory of our process after it answered a page, MB. */
  memory: async (url = '') => {
    const { origin, headers } = await startService(url);
    const load = await startHttpLoad(origin);
    await load.send(requestsOf('first-page', [], headers), atOnce);
    return { round: () => rssOf(process.pid) };
  },
};

const notes: Readonly<Record<Kind, string>> = {
  'read-revision': 'GET /v2/deployments/{id}/revisions/{id}',
  'first-page': `GET /v2/deployments, the first ${pageSize} of ${deployments}`,
  'last-page': `GET /v2/deployments, the last ${pageSize} of ${deployments}`,
  patch: 'PATCH of build_on_push: in place, with its audit record',
  restate: 'PATCH of repo_ref: a new revision',
};

/** Requests a second of each kind, the memory, and how the last page compares with the first. */
export async function controlLoad(): Promise<Measured[]> {
  await using folder = benchFolder();
  await using postgres = await startBenchPostgres(folder.path);
  const url = await postgres.database('control');
  await seedControl(url, { deployments, revisionsEach });
  const all: Measured[] = [];
  const means = new Map<string, number>();
  await using floor = await startContender(import.meta.filename, 'floor', url);
  for (const [kind, what] of Object.entries(notes)) {
    await using ours = await startContender(import.meta.filename, 'ours', url, kind);
    const measured = await interleave({ ours, floor }, { rounds: 7, warmups: 2 });
    means.set(kind, median(measured.ours));
    all.push({
      figure: `control-${kind}`,
      unit: 'requests/s',
      ours: median(measured.ours),
      floor: median(measured.floor),
      notes: { ours: what, floor: 'a bare Hono route: one revision by its id' },
      targets: [],
      spread: spread(measured.ours),
    });
  }
  await using process = await startContender(import.meta.filename, 'memory', url);
  const first = means.get('first-page') ?? Number.NaN;
  all.push(
    {
      figure: 'control-last-page-over-first',
      unit: 'times the first page',
      ours: first / (means.get('last-page') ?? Number.NaN),
      notes: { ours: 'the time that the last page takes, over that of the first' },
      targets: [{ of: 'ours', most: 5 }],
    },
    {
      figure: 'control-memory',
      unit: 'MB',
      ours: await process.round(),
      notes: { ours: `the service alone after ${kinds['first-page']} pages` },
      targets: [],
    },
  );
  return all;
}

if (import.meta.main) await contend(contenders);
