// Pushes of a repository whose agent has conversations: one that would break them is never served.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient } from '../../src/client/agent.ts';
import type { AppProcess } from '../../src/demo/processes.ts';
import { copyMark } from '../../src/deploy/rules/conversations.ts';
import { closeBeside, openAppFixture, startAppBeside, type AppFixture } from './app-fixture.ts';
import { openProject, type Project } from './app-project.ts';
import { refundAgents, type RefundAgents } from './refund-agents.ts';

let agents: RefundAgents;
let fixture: AppFixture;
let app: AppProcess;
let project: Project;
let agent: AgentServerClient;
let threads: { idle: string; waiting: string };

beforeAll(async () => {
  agents = await refundAgents();
  fixture = await openAppFixture({ owners: ['refunds'], holds: true, agents, isDown: true });
  app = await startAppBeside(fixture);
  project = await openProject(fixture, 'refunds', { file: { 'smoke-tests': [], conversations: 10 } });
  agent = connectAgentServer({ url: await agents.saying('hello'), userAgent: 'journey' });
  threads = { idle: await say('Good morning'), waiting: await say('I want 30 euros back') };
});
afterAll(async () => {
  await agent?.close();
  await app?.stop();
  if (fixture) await closeBeside(fixture);
});

async function say(content: string): Promise<string> {
  const { thread_id: id } = await agent.createThread({});
  await agent.waitRun({ assistant_id: 'refunds', input: { messages: [{ role: 'user', content }] } }, id);
  return id;
}

const change = (name: string): Promise<string> => project.push(`Change to ${name}`, { 'says.txt': `${name}\n` });
const copies = async (): Promise<number> => (await agent.searchThreads({ metadata: copyMark })).length;

test('a renamed node is discarded before traffic, and the check names it with the thread', async () => {
  const commit = await change('renamedNode');
  const check = await project.concluded(
    commit,
    'failure',
    /^Discarded before it got traffic: thread .* the node `review`/,
  );
  const words = await project.wordsOf(check);
  expect(check.title).toContain(threads.waiting);
  expect(words).toContain('its next step is the node `review`, which the new revision does not have');
  expect(words).not.toMatch(/Good morning|euros|within 30/);
  expect(await project.revisions()).toMatchObject([{ status: 'INTERRUPTED', hold: { decision: 'discarded' } }]);
  expect([await project.liveCommit(), await copies()]).toEqual([project.first, 0]);
});

test('an addition is promoted, also where the App is killed while it tries copies, of which none is left', async () => {
  const { waits, goOn } = agents.stall();
  const commit = await change('addition');
  await waits;
  expect(await copies()).toBeGreaterThan(0);
  await app.kill();
  goOn();
  app = await startAppBeside(fixture);
  const check = await project.concluded(commit, 'success', /^Live and proven$/);
  const words = await project.wordsOf(check);
  expect(words).toContain('is live, and conversations go on with it.');
  expect(words).toContain('2 conversations go on: 1 by another message, 1 up to their interrupt');
  expect([await project.liveCommit(), await copies()]).toEqual([commit, 0]);
  const left = (await agent.searchThreads({ limit: 100 })).map(({ thread_id: id }) => id);
  expect(left.toSorted()).toEqual([threads.idle, threads.waiting].toSorted());
});
