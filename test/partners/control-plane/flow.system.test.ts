import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Repository } from '../../../src/demo/repository.ts';
import { linkPackages } from '../../installed-packages.ts';
import { publicCaller, type PublicCaller } from './public-caller.ts';
import { openServed, type Served } from './service.ts';

// The typical flow (docs/design/contract.md#endpoints) by a client that has only the public document, on the
// real service with real processes. The official SDK calls the agents at the reported address.

let served: Served;
let service: PublicCaller;
beforeAll(async () => {
  served = await openServed('public');
  service = publicCaller(served.url, served.apiKey);
});
afterAll(() => served?.close());

const deployments = '/v2/deployments';
const one = `${deployments}/{deployment_id}`;
const revision = `${one}/revisions/{revision_id}`;

const deployment = z.looseObject({
  id: z.string(),
  latest_revision_id: z.string(),
  active_revision_id: z.string().nullable(),
  source_config: z.looseObject({ custom_url: z.string().nullable() }),
});
const progress = z.looseObject({ status: z.string(), status_message: z.string().nullable() });

const create = async (body: object) =>
  deployment.parse(await service.ask(`POST ${deployments}`, { body: { secrets: [], ...body } }, 201));
const read = async (id: string) => deployment.parse(await service.ask(`GET ${one}`, { ids: [id] }, 200));
const patch = async (id: string, body: object) =>
  deployment.parse(await service.ask(`PATCH ${one}`, { ids: [id], body }, 200));

/** Polls as the document says, until a final status. */
const polled = (id: string, revisionId: string, end: RegExp): Promise<z.infer<typeof progress>> =>
  vi.waitFor(
    async () => {
      const seen = progress.parse(await service.ask(`GET ${revision}`, { ids: [id, revisionId] }, 200));
      if (!end.test(seen.status)) throw new Error(`it is still ${seen.status}`);
      return seen;
    },
    { timeout: 120_000, interval: 200 },
  );

const clientFor = (url: string | null) => new Client({ apiUrl: url ?? '', apiKey: served.apiKey });
const saidBy = (url: string | null, input: string) => clientFor(url).runs.wait(null, 'talk', { input: { input } });

describe.concurrent('create, read, poll until DEPLOYED, change', () => {
  test('of a git repository', async () => {
    const folder = join(served.folder, 'git/acme/talker');
    const repository = await Repository.fromExample(join(import.meta.dirname, '../../journey/agents/talker'), folder);
    await served.agent('talker', folder);
    const commit = await repository.commit('Link the packages');

    const made = await create({
      name: 'from-git',
      source: 'github',
      source_config: { repo_url: folder, build_on_push: false, install_command: linkPackages },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
    });
    expect(made).toMatchObject({ active_revision_id: null });
    expect(await read(made.id)).toMatchObject({ id: made.id, name: 'from-git' });
    const built = await polled(made.id, made.latest_revision_id, /^DEPLOYED$|_FAILED$/);
    expect(built).toMatchObject({
      status: 'DEPLOYED',
      source_revision_config: { repo_ref: 'main', repo_commit_sha: commit },
    });
    const live = await read(made.id);
    expect(live).toMatchObject({ status: 'READY', active_revision_id: made.latest_revision_id });

    const client = clientFor(live.source_config.custom_url);
    expect(await client.assistants.search({ graphId: 'talk' })).toHaveLength(1);
    const { thread_id } = await client.threads.create();
    const events = await Array.fromAsync(client.runs.stream(thread_id, 'talk', { input: { input: 'you' } }));
    expect(events.at(-1)?.data).toMatchObject({ said: 'first you', mood: 'none' });

    const changed = await patch(made.id, { secrets: [{ name: 'MOOD', value: 'cheerful' }] });
    expect(changed.latest_revision_id).not.toBe(made.latest_revision_id);
    expect(await polled(made.id, changed.latest_revision_id, /^DEPLOYED$|_FAILED$/)).toMatchObject({
      status: 'DEPLOYED',
    });
    expect(await read(made.id)).toMatchObject({ active_revision_id: changed.latest_revision_id });
    expect(await saidBy(live.source_config.custom_url, 'again')).toMatchObject({
      said: 'first again',
      mood: 'cheerful',
    });
    expect(await client.threads.get(thread_id)).toMatchObject({ values: { said: 'first you' } });
  });

  test('of an uploaded folder', async () => {
    const folder = join(served.folder, 'upload');
    await served.agent('talker', folder);
    await promisify(execFile)('tar', ['-czf', `${folder}.tar.gz`, '-C', folder, '.']);

    const made = await create({
      name: 'from-upload',
      source: 'internal_source',
      source_config: { install_command: linkPackages },
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
    });
    const where = z.object({ upload_url: z.url(), object_path: z.string() }).parse(
      await (
        await fetch(`${served.url}/v2/deployments/${made.id}/upload-url`, {
          method: 'POST',
          headers: { 'x-api-key': served.apiKey },
        })
      ).json(),
    );
    const body = await readFile(`${folder}.tar.gz`);
    const put = await fetch(where.upload_url, { method: 'PUT', headers: { 'content-type': 'application/gzip' }, body });
    expect(put.ok).toBe(true);
    const sent = await patch(made.id, { source_revision_config: { source_tarball_path: where.object_path } });
    expect(await polled(made.id, sent.latest_revision_id, /^DEPLOYED$|_FAILED$/)).toMatchObject({ status: 'DEPLOYED' });
    expect(await polled(made.id, made.latest_revision_id, /./)).toMatchObject({ status: 'SKIPPED' });
    const live = await read(made.id);
    expect(live).toMatchObject({ active_revision_id: sent.latest_revision_id });
    expect(await saidBy(live.source_config.custom_url, 'you')).toMatchObject({ said: 'first you' });
  });

  test('of an image, which fails clearly without a container runtime', async () => {
    const made = await create({
      name: 'from-image',
      source: 'external_docker',
      source_config: { resource_spec: { cpu: 0.5, memory_mb: 256 } },
      source_revision_config: { image_uri: 'registry.example.com/acme/agent:1' },
    });
    const { status, status_message } = await polled(made.id, made.latest_revision_id, /_FAILED$|^DEPLOYED$/);
    expect(status).toMatch(/_FAILED$/);
    expect(status_message).toMatch(/docker|podman|engine/i);
    expect(await read(made.id)).toMatchObject({ active_revision_id: null });
  });
});

test('a deployment is deleted at once, and soon its agent too', async () => {
  const { id, source_config } = await create({
    name: 'to-be-deleted',
    source: 'external_docker',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example.com/acme/agent:1' },
  });
  expect(await service.ask(`DELETE ${one}`, { ids: [id] }, 204)).toBeUndefined();
  await expect
    .poll(async () => await service.ask(`GET ${one}`, { ids: [id] }), { timeout: 120_000, interval: 100 })
    .toEqual({ detail: expect.any(String) });
  expect(source_config.custom_url).toBeNull();
});
