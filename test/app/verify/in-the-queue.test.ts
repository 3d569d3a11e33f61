import { silentLogger } from '../../../src/kit/logger.ts';
import { expect, test } from 'vitest';
import { GitHubApiError, type GitHubApi } from '../../../app/github/github-api.ts';
import { createReceiver } from '../../../app/verify/receive-run.ts';
import { createSmokeTestRunner } from '../../../app/verify/smoke-test-runner.ts';
import { reconcileDeployment } from '../../../app/reconcile/reconcile-deployment.ts';
import type { AppContext } from '../../../app/context.ts';
import { ControlModel, goesLive } from '../../deploy/machine/control-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { anIntent, commit } from '../an-intent.ts';
import { MemoryStore } from '../reconcile/memory-store.ts';
import { AgentInMemory, says } from './agent-in-memory.ts';
import { noThreads, testExpecting, listensFor, publicUrl } from './driving.ts';

const unasked = (): never => {
  throw new GitHubApiError('unexpected request to GitHub', 404, 'none');
};
const githubApi: GitHubApi = {
  head: async () => ({ sha: commit, message: 'Say hello', committedAt: 0 }),
  compare: unasked,
  file: unasked,
  checksOf: unasked,
  environmentProtection: async () => ({ kind: 'none' }),
  membershipOf: unasked,
  peopleOf: unasked,
  requiredChecks: unasked,
  defaultBranch: unasked,
  permissionOf: unasked,
  writeCheck: unasked,
  makeDeployment: unasked,
  writeDeploymentStatus: unasked,
  pullRequest: unasked,
  writeComment: unasked,
  react: unasked,
};

const oneOfEach = [testExpecting('hello'), testExpecting('hello', { context: { tone: 'calm' } }), listensFor('hello')];

/** A deployment queue with one live revision whose smoke tests are due. */
async function smoking(agentUrl = 'https://agent.test', tests = oneOfEach) {
  const clock = new SimulatedClock();
  const control = new ControlModel(clock);
  control.has(
    {
      name: 'echo',
      source: 'github',
      source_config: { integration_id: 'i1', repo_url: 'https://github.test/acme/agents', deployment_type: 'dev' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    },
    goesLive(commit),
  );
  await clock.sleep(60_000);
  const agent = new AgentInMemory(clock);
  const jobs: number[] = [];
  const leaving = new AbortController();
  let context: AppContext | undefined;
  const store = new MemoryStore({
    now: () => clock.now(),
    send: (name, id, at) => {
      if (name !== 'lane') return;
      jobs.push(at);
      clock.after(Math.max(0, at - clock.now()), () => {
        if (context) void reconcileDeployment(id, context, leaving.signal);
      });
    },
  });
  const log = silentLogger;
  const random = () => 0.5;
  context = {
    clock,
    random,
    store,
    githubApi,
    control,
    agentAt: () => agent,
    targets: { targetsOf: async () => ({ targets: [], refused: [] }) },
    smoke: createSmokeTestRunner({ clock, random, control, publicUrl, threadsAt: noThreads, log }),
    log,
  };
  const receive = createReceiver({ store, clock, log });
  agent.deliver = (url, body) => {
    const { pathname, searchParams } = new URL(url);
    void receive({
      intentId: pathname.slice('/runs/'.length),
      token: searchParams.get('token') ?? '',
      body: () => body,
    });
  };
  const { terms, repository, branch, cause, sending } = anIntent('requested');
  const asked = { ...terms, smokeTests: tests };
  const request = { deploymentId: 'd1', repository, branch, commit, cause, sending, terms: asked };
  const requested = await store.request(request);
  const lease = await store.takeLease('d1', 'a test', 1_000);
  if (!requested || !lease) throw new Error('the lease is held');
  const live = anIntent('testing', { ...requested, revisionId: 'r1', agentUrl });
  await store.save(lease, { intents: [live] });
  await store.leaveLease(lease, clock.now());
  return { clock, agent, store, jobs, id: requested.id };
}

test('a queue tests a live revision in few passes, notified by its agent, to a verdict', async () => {
  const { clock, agent, store, jobs, id } = await smoking();
  agent.commands = [says('hello', 30_000), says('hello', 100)];
  for (let turns = 0; turns < 600 && (await store.intent(id))?.state !== 'ended'; turns += 1) await clock.sleep(100);
  expect(await store.intent(id)).toMatchObject({
    end: { kind: 'deployed' },
    verdict: { kind: 'passed', tests: [{ attempts: 1 }, { attempts: 1 }, { attempts: 1 }] },
  });
  expect([agent.left, agent.requested.map(({ webhook }) => webhook !== undefined)]).toEqual([[], [true, true, false]]);
  expect(jobs.length).toBeLessThan(12);
});

test('a queue sends a series at once, and goes on with the webhook of any of its runs', async () => {
  const series = { kind: 'all-right', tries: 4, atOnce: 3 } as const;
  const { clock, agent, store, id } = await smoking(undefined, [testExpecting('hello', { series })]);
  agent.commands = [says('hello', 100), says('hello', 30_000), says('hello', 9_000), says('hello', 30_000)];
  const began = clock.now();
  for (let turns = 0; turns < 150; turns += 1) await clock.sleep(100);
  // The second of the three has its answer, and its thread is gone.
  const under = [{ kind: 'started' }, { kind: 'answered' }, { kind: 'started' }];
  expect(await store.intent(id)).toMatchObject({ smoke: { under } });
  expect(agent.left).toHaveLength(2);
  for (let turns = 0; turns < 600 && (await store.intent(id))?.state !== 'ended'; turns += 1) await clock.sleep(100);
  expect(await store.intent(id)).toMatchObject({ verdict: { kind: 'passed', tests: [{ attempts: 4 }] } });
  expect([agent.left, agent.requested.length]).toEqual([[], 4]);
  expect(clock.now() - began).toBeLessThan(31_000);
});

test('an address that is not a URL is reported as such, and no agent is called', async () => {
  const { clock, agent, store, id } = await smoking('agent.test');
  await clock.sleep(10_000);
  expect(await store.intent(id)).toMatchObject({
    state: 'ended',
    verdict: { kind: 'unproven', tests: [1, 2, 3].map(() => ({ attempts: 0, verdict: { because: 'no-address' } })) },
  });
  expect(agent.requested).toEqual([]);
});
