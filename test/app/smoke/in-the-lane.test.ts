import { expect, test } from 'vitest';
import { HubError, type Hub } from '../../../app/github/hub.ts';
import { createReceiver } from '../../../app/smoke/receive-run.ts';
import { createSmokeDesk } from '../../../app/smoke/smoke-desk.ts';
import { advanceLane } from '../../../app/work/lane.ts';
import type { World } from '../../../app/world.ts';
import { ControlModel, goesLive } from '../../deploy/control-model.ts';
import { SimulatedClock } from '../../deploy/simulated-clock.ts';
import { anIntent, commit } from '../tell/an-intent.ts';
import { MemoryStore } from '../work/memory-store.ts';
import { AgentInMemory, says } from './agent-in-memory.ts';
import { asksFor, listensFor, publicUrl } from './driving.ts';

const unasked = (): never => {
  throw new HubError('nobody asks GitHub here', 404, 'none');
};
const hub: Hub = {
  head: async () => ({ sha: commit, message: 'Say hello', committedAt: 0 }),
  compare: unasked,
  file: unasked,
  defaultBranch: unasked,
  permissionOf: unasked,
  writeCheck: unasked,
  makeDeployment: unasked,
  writeDeploymentStatus: unasked,
};

/** A lane with one revision that is live and has its questions before it. */
async function smoking() {
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
  let world: World | undefined;
  const store = new MemoryStore({
    now: () => clock.now(),
    send: (name, id, at) => {
      if (name !== 'lane') return;
      jobs.push(at);
      clock.after(Math.max(0, at - clock.now()), () => {
        if (world) void advanceLane(id, world, leaving.signal);
      });
    },
  });
  const log = () => undefined;
  const random = () => 0.5;
  world = {
    clock,
    random,
    store,
    hub,
    control,
    agentAt: () => agent,
    targets: { targetsOf: async () => ({ targets: [], refused: [] }) },
    smoke: createSmokeDesk({ clock, random, control, publicUrl, log }),
    log,
  };
  const receive = createReceiver({ store, clock, log });
  agent.deliver = (url, body) => {
    const { pathname, searchParams } = new URL(url);
    void receive({
      intentId: pathname.slice('/runs/'.length),
      token: searchParams.get('token') ?? undefined,
      body: () => body,
    });
  };
  const { terms, repository, branch, cause, sending } = anIntent();
  const smokeTests = [asksFor('hello'), asksFor('hello', { context: { tone: 'calm' } }), listensFor('hello')];
  const wish = { deploymentId: 'd1', repository, branch, commit, cause, sending, terms: { ...terms, smokeTests } };
  const wished = await store.wish(wish);
  const lease = await store.takeLease('d1', 'a test', 1_000);
  if (!wished || !lease) throw new Error('the lane is not free');
  const live = { revisionId: 'r1', agentUrl: 'https://agent.test', how: 'triggered' as const };
  await store.save(lease, { intents: [{ ...wished, ...live, state: 'smoking' }] });
  await store.leaveLease(lease, clock.now());
  return { clock, agent, store, jobs, id: wished.id };
}

test('a lane asks a live revision in few turns, woken by its agent, and concludes', async () => {
  const { clock, agent, store, jobs, id } = await smoking();
  agent.deeds = [says('hello', 30_000), says('hello', 100)];
  for (let turns = 0; turns < 600 && (await store.intent(id))?.state !== 'ended'; turns += 1) await clock.sleep(100);
  expect(await store.intent(id)).toMatchObject({
    end: { kind: 'deployed' },
    verdict: { kind: 'passed', tests: [{ attempts: 1 }, { attempts: 1 }, { attempts: 1 }] },
  });
  expect([agent.left, agent.asked.map(({ webhook }) => webhook !== undefined)]).toEqual([[], [true, true, false]]);
  expect(jobs.length).toBeLessThan(12);
});
