import { execFileSync, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { databaseNamed } from '../databases-of.ts';
import type { OurControlService } from '../../../../src/services/control/service.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { tableOf, tableRows } from '../../../docs-tables.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { plainAgent, repository, temporaryFolder, writePrograms } from '../builds/repositories.ts';
import { httpControl } from '../http-control.ts';
import { tarball } from '../uploads/upload-places.ts';
import {
  crashCases,
  rowOf,
  seenFromOutside,
  stepNames,
  tableHead,
  type CrashStep,
  type Fared,
  type HoldEnd,
  type SweptSource,
} from './crash-steps.ts';
import { agentGroups, buildProcessesBelow, strayFiles } from './left-behind.ts';
import { endWithTest } from '../../../child-process.ts';

const root = join(import.meta.dirname, '../../../..');

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

const agent = { ...plainAgent, 'package.json': '{"name":"agent"}', 'pnpm-lock.yaml': 'lockfileVersion: 9\n' };

/** A stub package manager that returns at once. */
const manager = '#!/bin/sh\nif [ "$1" = --version ]; then echo 1.2.3; else mkdir -p node_modules/dep; fi\n';

/** A service as a process. */
interface Swept {
  process: ChildProcess;
  url: string;
  apiKey: string;
  control: OurControlService;
  /** Makes the service kill itself at a step. */
  arm(step: CrashStep): Promise<void>;
  /** How it ended. */
  died: Promise<string>;
}

const said = z.object({ url: z.string(), apiKey: z.string() });

async function startService(machine: { place: string }): Promise<Swept> {
  const script = join(import.meta.dirname, 'swept-service.ts');
  const env = { ...process.env, PATH: `${join(machine.place, 'bin')}:${process.env.PATH}` };
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc'];
  const child = endWithTest(spawn(process.execPath, [script, JSON.stringify(machine)], { stdio, env }));
  const died = once(child, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`));
  const [first] = await once(child, 'message');
  const { url, apiKey } = said.parse(first);
  return {
    process: child,
    url,
    apiKey,
    control: httpControl(url, apiKey),
    died,
    async arm(step) {
      child.send({ killAt: step });
      await once(child, 'message');
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20);
}

async function upload({ control }: Swept, id: string, source: string): Promise<string> {
  const { upload_url, object_path } = await control.requestUpload(id);
  const packed = execFileSync('tar', ['-czf', '-', '-C', source, ...Object.keys(agent)]);
  const answer = await fetch(upload_url, tarball(packed));
  if (!answer.ok) throw new Error(`the upload was answered ${answer.status}: ${await answer.text()}`);
  return object_path;
}

test('recovers from a kill at every step: true status, one agent, nothing left', { timeout: 1_800_000 }, async () => {
  const place = temporaryFolder(atTheEnd);
  // The users that agents run as need to traverse it.
  chmodSync(place, 0o711);
  const postgres = await startTestPostgres();
  atTheEnd.push(() => postgres.stop());
  const tables = openDatabase<ControlTables>({ url: postgres.url });
  atTheEnd.push(() => tables.close());
  writePrograms(join(place, 'bin'), { pnpm: manager });
  const { folder: repo } = repository(join(place, 'git/agent'), agent);
  const dataDir = join(place, 'data');
  atTheEnd.push(() => removeIsolated(dataDir));
  const machine = { place, dataDir, databaseUrl: postgres.url, allowGit: [join(place, 'git')] };

  let service = await startService(machine);
  const ids = await deployBoth(service, repo);
  atTheEnd.push(async () => {
    for (const id of Object.values(ids)) {
      await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
    }
  });
  atTheEnd.push(async () => {
    service.process.disconnect();
    await service.died;
  });

  const rows: string[] = [];
  for (const crash of crashCases) {
    const { source, step, holdEnd } = crash;
    const id = ids[source];
    if (step !== seenFromOutside) await service.arm(step);
    const tar = source === 'github' ? undefined : await upload(service, id, repo);
    const change = tar ? { source_tarball_path: tar } : { repo_ref: 'main' };
    const options = holdEnd === undefined ? {} : { holdSeconds: holdEnd === 'by itself' ? 1 : 600 };
    const requested = service.control.patchDeployment(id, { source_revision_config: change }, options);
    const { latest_revision_id, active_revision_id } = await requested;
    const revisionId = latest_revision_id ?? '';
    const isDecidedAfterwards = step === 'healthy' || step === 'held';
    if (!isDecidedAfterwards) await decideOnceHeld(service, id, revisionId, holdEnd);
    if (step === seenFromOutside) {
      await until(() => [...agentGroups(id).values()].includes(revisionId));
      service.process.kill('SIGKILL');
    }
    const endedBy = await service.died;
    const before = Object.values(ids).flatMap((each) => [...agentGroups(each).keys()]);

    service = await startService(machine);
    if (isDecidedAfterwards) await decideOnceHeld(service, id, revisionId, holdEnd);
    const isDiscarded = holdEnd === 'discarded' || holdEnd === 'by itself';
    const live = isDiscarded ? (active_revision_id ?? '') : revisionId;
    if (isDiscarded) await untilEnded(service, id, revisionId);
    const seen = await faredAfter(service, { id, revisionId, live }, async () =>
      strayFiles(dataDir, await named(tables.db)),
    );
    const still = new Set(Object.values(ids).flatMap((each) => [...agentGroups(each).keys()]));
    const agentsLeft = before.filter((group) => still.has(group)).length;
    const whole = { endedBy, ...seen, processesLeft: agentsLeft + buildProcessesBelow(dataDir) };
    expect({ ...crash, ...whole }).toEqual({ ...crash, ...(isDiscarded ? discardedWell : allWell) });
    rows.push(rowOf(crash, whole));
  }
  const table = [...tableHead, ...rows].join('\n');
  console.log(table);
  expect(tableOf('docs/design/rollouts.md', 'killed at')).toEqual(tableRows(table).slice(1));
});

const allWell: Fared = { endedBy: 'SIGKILL', status: 'DEPLOYED', agents: 1, processesLeft: 0, filesLeft: [] };
const discardedWell: Fared = { ...allWell, status: 'INTERRUPTED', agents: 0 };

/** Decides about a revision, as soon as it is held; nothing where it has no hold, or one that ends by itself. */
async function decideOnceHeld({ control }: Swept, id: string, revisionId: string, holdEnd: HoldEnd | undefined) {
  if (holdEnd === undefined || holdEnd === 'by itself') return;
  await until(async () => (await control.getRevision(id, revisionId)).hold?.ends_at != null);
  const decide = holdEnd === 'promoted' ? control.promoteRevision : control.discardRevision;
  // The response may be lost with the service.
  await decide(id, revisionId).catch(() => undefined);
}

/** Waits until a revision has ended and its agent is gone. */
async function untilEnded({ control }: Swept, id: string, revisionId: string): Promise<void> {
  await until(async () => (await control.getRevision(id, revisionId)).status === 'INTERRUPTED');
  await until(() => ![...agentGroups(id).values()].includes(revisionId));
}

/** One live deployment of each source. */
async function deployBoth(service: Swept, repo: string): Promise<Record<SweptSource, string>> {
  const { control } = service;
  const more = { secrets: [{ name: 'FAKE_START', value: 'slow' }] };
  const config = { source_config: { build_command: 'touch built' } };
  const git = await control.createDeployment({
    ...more,
    name: 'of-git',
    source: 'github',
    source_config: { ...config.source_config, repo_url: repo },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
  });
  const uploaded = await control.createDeployment({
    ...more,
    ...config,
    name: 'of-uploads',
    source: 'internal_source',
    source_revision_config: { graph_config_path: 'langgraph.json' },
  });
  const path = await upload(service, uploaded.id, repo);
  await control.patchDeployment(uploaded.id, { source_revision_config: { source_tarball_path: path } });
  for (const { id } of [git, uploaded]) {
    await until(async () => (await control.getDeployment(id)).active_revision_id !== null);
  }
  return { github: git.id, internal_source: uploaded.id };
}

/** Every build and every upload that the database refers to. */
async function named(db: ReturnType<typeof openDatabase<ControlTables>>['db']): Promise<Set<string>> {
  const { rows } = await sql<{ path: string }>`
    select build_folder as path from control.revisions where build_folder is not null
    union select object_path from control.uploads where stored_at is not null and removed_at is null`.execute(db);
  return new Set(rows.map(({ path }) => path));
}

/** Waits until a revision has ended and its agent responds, then records what is left. */
async function faredAfter(
  { control, url, apiKey }: Swept,
  { id, revisionId, live }: { id: string; revisionId: string; live: string },
  stray: () => Promise<string[]>,
): Promise<Omit<Fared, 'endedBy' | 'processesLeft'>> {
  await until(async () => (await control.getDeployment(id)).active_revision_id === live);
  await until(async () => {
    const answer = await fetch(`${url}/agents/${id}/ok`, { headers: { 'x-api-key': apiKey } });
    return answer.ok && (await answer.text()).includes(live);
  });
  const { status } = await control.getRevision(id, revisionId);
  // Beside the agent that serves, the former one may still be idle for a while.
  const groups = [...agentGroups(id).values()];
  expect(groups.length).toBeLessThanOrEqual(2);
  return { status, agents: groups.filter((each) => each === revisionId).length, filesLeft: await stray() };
}

test('covers every step of the service and no other', () => {
  const files = ['rollouts', 'builds'].flatMap((room) => {
    const folder = join(root, 'src/services/control', room);
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    return sources.map((file) => readFileSync(join(folder, file), 'utf8'));
  });
  const recorded = files.flatMap((text) => [...text.matchAll(/\bstep\?\.\(\s*'([^']+)'/g)].map(([, name]) => name));
  expect(new Set([...recorded, seenFromOutside])).toEqual(new Set(stepNames));
});
