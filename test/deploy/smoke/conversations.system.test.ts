import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient } from '../../../src/client/agent.ts';
import { steadyClock } from '../../../src/kit/clock.ts';
import type { ConversationTerms } from '../../../src/deploy/file/conversations.ts';
import type { ConversationServer } from '../../../src/contract/agent/service.ts';
import { recordConversations } from '../../../src/deploy/smoke/conversations.ts';
import { checkConversations } from '../../../src/deploy/smoke/converse.ts';
import { copyMark, markOfCopy } from '../../../src/deploy/rules/conversations.ts';
import type { NamedVerdict } from '../../../src/deploy/rules/verdict-types.ts';
import { sharedDatabase, type Servers } from '../../services/agent/runs/two-servers.ts';
import { folderOf, runHere } from '../../cli/run-cli.ts';
import { temporaryAgent, type TemporaryAgent } from '../../services/agent/temporary-agent.ts';

const example = join(import.meta.dirname, '../../../examples/refund-agent/src');
const sources = Object.fromEntries(
  ['refunds.ts', 'graph.ts', 'changes.ts'].map((file) => [`src/${file}`, readFileSync(join(example, file), 'utf8')]),
);
const folders: TemporaryAgent[] = [];

function agentOf(graph: string): string {
  const config = { node_version: '24', graphs: { refunds: graph } };
  const folder = temporaryAgent({ ...sources, 'langgraph.json': config });
  folders.push(folder);
  return folder.configPath;
}

let servers: Servers;
let live: AgentServerClient;
let liveUrl = '';
let idle = '';
let waiting = '';

beforeAll(async () => {
  servers = await sharedDatabase();
  const { url } = await servers.start({ configPath: agentOf('./src/graph.ts:graph'), revisionId: 'live' });
  liveUrl = url;
  live = connectAgentServer({ url, userAgent: 'test' });
  idle = await say('Good morning');
  waiting = await say('I want 30 euros back');
});
afterAll(async () => {
  await live?.close();
  await servers?.close();
  for (const folder of folders) folder.remove();
});

async function say(content: string): Promise<string> {
  const { thread_id: id } = await live.createThread({});
  await live.waitRun({ assistant_id: 'refunds', input: { messages: [{ role: 'user', content }] } }, id);
  return id;
}

/** The address of a held revision of a change, on the same database. */
async function hold(change: string): Promise<string> {
  const holdUntil = new Date(Date.now() + 600_000);
  const configPath = agentOf(`./src/changes.ts:${change}`);
  return (await servers.start({ configPath, revisionId: change, holdUntil })).url;
}

const held = async (change: string): Promise<AgentServerClient> =>
  connectAgentServer({ url: await hold(change), userAgent: 'test' });

interface Checked {
  verdict: NamedVerdict | undefined;
  notes: string[];
}

async function check(
  changed: ConversationServer,
  more: Partial<ConversationTerms> = {},
  clock = steadyClock,
): Promise<Checked> {
  const notes: string[] = [];
  const terms = { newest: 10, timeoutMs: 20_000, ...more };
  const options = {
    terms,
    clock,
    note: (text: string) => notes.push(text),
    redact: (text: string) => text,
  };
  const recorded = await recordConversations(live, options);
  return { verdict: await checkConversations(recorded, { changed, live }, options), notes };
}

const seenIn = (verdict: NamedVerdict | undefined): string[] =>
  verdict?.verdict.kind === 'failed' ? verdict.verdict.held.filter(({ held }) => !held).map(({ seen }) => seen) : [];

const changes: [change: string, seen: (waiting: string, idle: string) => string[]][] = [
  ['renamedNode', (id) => [`thread ${id}: its next step is the node \`review\`, which the new revision does not have`]],
  [
    'removedChannel',
    (id, other) =>
      [id, other].map(
        (each) => `thread ${each}: its state has the channel \`policy\`, which the new revision does not have`,
      ),
  ],
  [
    'changedType',
    (id, other) =>
      [id, other].map(
        (each) =>
          `thread ${each}: the channel \`amount\` of its state is of the type number, and of string in the new revision`,
      ),
  ],
  [
    'changedInterrupt',
    (id) => [
      `thread ${id}: the interrupt of the node \`review\` has another shape, missing or of another type: \`question\`, \`amount\``,
    ],
  ],
];

test.each(changes)('finds the conversations that %s breaks, and leaves no copy', async (change, seen) => {
  const before = await live.searchThreads({ limit: 100 });
  const { verdict, notes } = await check(await held(change));
  expect(seenIn(verdict)).toEqual(seen(waiting, idle));
  expect(notes).toEqual([]);
  expect(JSON.stringify(verdict)).not.toMatch(/Good morning|euros|within 30/);
  expect(await live.searchThreads({ limit: 100 })).toEqual(before);
});

test('passes an addition, and resumes with the value of the file', async () => {
  const changed = await held('addition');
  expect((await check(changed)).verdict).toMatchObject({
    name: 'conversations',
    attempts: 2,
    verdict: {
      kind: 'passed',
      held: [{ expected: '2 conversations go on: 1 by another message, 1 up to their interrupt' }],
    },
  });
  const resumed = await check(changed, { resume: { value: false } });
  expect(resumed.verdict?.verdict).toMatchObject({
    held: [{ expected: '2 conversations go on: 1 by another message, 1 by a resume' }],
  });
  // The person is still waited for.
  expect(await live.getThread(waiting)).toMatchObject({ status: 'interrupted' });
});

test('removes what a killed run left, and nothing that is in use', async () => {
  const [old, inUse] = [await live.copyThread(waiting), await live.copyThread(waiting)];
  const mark = (id: string, ms: number) =>
    live.patchThread(id, { metadata: { ...markOfCopy('course', Date.now() + ms) } });
  await mark(old.thread_id, -1);
  await mark(inUse.thread_id, 60_000);
  const { verdict } = await check(live);
  expect(verdict?.attempts).toBe(2);
  const left = await live.searchThreads({ metadata: copyMark });
  expect(left.map(({ thread_id }) => thread_id)).toEqual([inUse.thread_id]);
  await live.deleteThread(inUse.thread_id);
});

test('a check that is killed while it makes a copy leaves one that the next deploy removes', async () => {
  const killed = () => Promise.reject(new Error('killed'));
  const changed: ConversationServer = { ...live, patchThread: killed, deleteThread: killed };
  await expect(check(changed, { newest: 1 })).rejects.toThrow('killed');
  const [copy, ...others] = await live.searchThreads({ metadata: copyMark });
  expect(others).toEqual([]);
  const text = expect.stringMatching(/^20/);
  expect(copy?.metadata).toMatchObject({ graph_id: 'refunds', landfall_copy_until: text });
  const nextDay = { ...steadyClock, now: () => steadyClock.now() + 86_400_000 };
  expect((await check(live, {}, nextDay)).verdict?.attempts).toBe(2);
  expect(await live.searchThreads({ metadata: copyMark })).toEqual([]);
});

test('landfall compare tries the conversations of one agent on another', async () => {
  const folder = folderOf({});
  const compared = (changed: string, ...more: string[]) =>
    runHere(['compare', '--live', liveUrl, '--new', changed, '--conversations', '5', ...more], { cwd: folder.path });
  const broken = await compared(await hold('changedInterrupt'));
  expect(broken.code).toBe(1);
  expect(broken.out).toContain(`conversations: failed\n  thread ${waiting}: the interrupt of the node`);
  const whole = await compared(liveUrl, '--json');
  expect(whole.code).toBe(0);
  expect(JSON.parse(whole.out)).toMatchObject({
    outcome: 'no-worse',
    tests: [{ name: 'conversations', expectations: [{ held: true }] }],
  });
  folder.remove();
});
