// The conversations of a deployment go on with its new revision, or it never gets traffic: the example on the real services.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient } from '../../src/client/agent.ts';
import { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { commitLinkScript } from '../installed-packages.ts';
import { openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
let agent: AgentServerClient;
let deployed: StepResult['outputs'] = {};
let idle = '';
let waiting = '';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  const folder = join(fixture.folder, 'git/acme/refund-agent');
  repository = await Repository.fromExample(join(root, 'examples/refund-agent'), folder);
  await commitLinkScript(repository);
});
afterAll(async () => {
  await agent?.close();
  await fixture?.close();
});

const step = (inputs: Record<string, string> = {}): Promise<StepResult> =>
  fixture.step(repository, { inputs: { 'smoke-tests': '[]', conversations: '10', ...inputs } });

/** Deploys a change of the example. */
async function change(name: string, inputs: Record<string, string> = {}): Promise<StepResult> {
  await repository.edit('langgraph.json', /\.\/src\/\w+\.ts:\w+/, `./src/${name}`);
  await repository.commit(name);
  return step(inputs);
}

async function say(content: string): Promise<string> {
  const { thread_id: id } = await agent.createThread({ metadata: { person: 'ada' } });
  await agent.waitRun({ assistant_id: 'refunds', input: { messages: [{ role: 'user', content }] } }, id);
  return id;
}

test('a first revision has no conversations, and is live', async () => {
  const first = await step();
  expect(first).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', 'smoke-verdict': 'none' } });
  deployed = first.outputs;
  const settings = { url: deployed['deployment-url'] ?? '', apiKey: fixture.service.apiKey, userAgent: 'journey' };
  agent = connectAgentServer(settings);
  idle = await say('Good morning');
  waiting = await say('I want 30 euros back');
});

test.each([
  ['renamedNode', 'its next step is the node `review`, which the new revision does not have'],
  ['removedChannel', 'its state has the channel `policy`, which the new revision does not have'],
  ['changedType', 'the channel `amount` of its state is of the type number, and of string in the new revision'],
  ['changedInterrupt', 'the interrupt of the node `review` has another shape'],
])('%s is discarded before traffic, with the id of the conversation', async (name, why) => {
  const before = await agent.searchThreads({ limit: 100 });
  const { exitCode, outputs, summary, log } = await change(`changes.ts:${name}`);
  expect({ exitCode, outputs }).toMatchObject({
    exitCode: 1,
    outputs: {
      outcome: 'discarded',
      'smoke-verdict': 'failed',
      'active-revision-id': deployed['revision-id'],
      reason: expect.stringContaining(
        `broke copies of conversations before it got traffic, and was discarded: thread ${waiting}: ${why}`,
      ),
    },
  });
  expect(`${summary}${log}${JSON.stringify(outputs)}`).not.toMatch(/Good morning|euros|within 30/);
  expect(await agent.searchThreads({ limit: 100 })).toEqual(before);
});

test('an addition is promoted, and its conversations go on', async () => {
  const { exitCode, outputs } = await change('changes.ts:addition');
  expect({ exitCode, outputs }).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'deployed', 'smoke-verdict': 'passed', 'active-revision-id': outputs['revision-id'] },
  });
  expect(outputs['result']).toContain('2 conversations go on: 1 by another message, 1 up to their interrupt');
  const again = await step({ mode: 'smoke' });
  expect(again).toMatchObject({ exitCode: 0, outputs: { 'smoke-verdict': 'passed' } });
  await agent.waitRun({ assistant_id: 'refunds', command: { resume: true } }, waiting);
  expect(await agent.getThread(waiting)).toMatchObject({ status: 'idle' });
  expect(await agent.getThread(idle)).toMatchObject({ status: 'idle' });
});

test('after traffic, a revision that breaks one is rolled back', async () => {
  const id = await say('I want 40 euros back');
  const { exitCode, outputs } = await change('changes.ts:renamedNode', {
    verify: 'after-traffic',
    'on-failure': 'rollback',
  });
  expect({ exitCode, outputs }).toMatchObject({
    exitCode: 1,
    outputs: { outcome: 'rolled-back', reason: expect.stringContaining(`thread ${id}: its next step is the node`) },
  });
  const left = await agent.searchThreads({ limit: 100 });
  expect(left.map(({ thread_id }) => thread_id).toSorted()).toEqual([id, idle, waiting].toSorted());
});
