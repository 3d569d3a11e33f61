import { afterEach, expect, test } from 'vitest';
import { steadyNow, systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { startScalingToZero } from '../../../../src/services/control/rollouts/idle-agents.ts';
import { loggerTo } from '../../../logger.ts';
import { exampleFiles } from './example-files.ts';
import { closeAll, keyHeader, logOf, goesLive, openMachine, startService, until } from './running-service.ts';

afterEach(closeAll);

const json = { ...keyHeader, 'content-type': 'application/json' };

test('an idle agent is stopped, and serves the next request with its threads and crons', async () => {
  const machine = await openMachine(exampleFiles());
  const instance = await startService(machine, { compute: processCompute({ clock: systemClock, drainMs: 5_000 }) });
  const created = await instance.remote.createDeployment(
    {
      name: 'idle',
      source: 'github',
      source_config: { repo_url: machine.repo },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    },
    { idleAfter: 60 },
  );
  expect(created.idle_after_seconds).toBe(60);
  const { id, latest_revision_id, url } = created;
  const revisionId = latest_revision_id ?? '';
  await goesLive(instance, { id, revisionId });
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  const thread: unknown = await (await post('/threads', { metadata: { user: 'ada' } })).json();
  const background = await post('/runs', { assistant_id: 'echo', input: { input: 'x', sleep_ms: 3_000 } });
  expect(background.status).toBe(200);

  const later = { ...systemClock, steadyNow: () => steadyNow(systemClock) + 120_000 };
  const { store, gateway, rollouts } = instance;
  const stop = startScalingToZero({ store, gateway, rollouts, clock: later, log: loggerTo(() => {}), everyMs: 50 });
  const began = Date.now();
  await until(() => rollouts.isScaledToZero(id));
  await stop();
  expect(Date.now() - began).toBeGreaterThan(1_500);
  await until(async () => (await logOf(instance, revisionId, 'deploy')).at(-1)?.includes('nobody used it') === true);

  const found: unknown = await (await post('/threads/search', { metadata: { user: 'ada' } })).json();
  expect(found).toMatchObject([thread]);
  expect(rollouts.isScaledToZero(id)).toBe(false);
});

test('the time is kept with the deployment, changes without a revision, and is checked', async () => {
  const machine = await openMachine();
  const { remote } = await startService(machine);
  const request = {
    name: 'times',
    source: 'github',
    source_config: { repo_url: machine.repo },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  } as const;
  const { id, latest_revision_id, idle_after_seconds } = await remote.createDeployment(request);
  expect(idle_after_seconds).toBeUndefined();
  expect(await remote.patchDeployment(id, {}, { idleAfter: 900 })).toMatchObject({
    idle_after_seconds: 900,
    latest_revision_id,
  });
  expect(await remote.patchDeployment(id, {})).toMatchObject({ idle_after_seconds: 900, latest_revision_id });
  expect(await remote.patchDeployment(id, {}, { idleAfter: 'never' })).not.toHaveProperty('idle_after_seconds');
  for (const idleAfter of [59, 7_776_001, 1.5]) {
    await expect(remote.patchDeployment(id, {}, { idleAfter })).rejects.toMatchObject({ status: 400 });
  }
  const key = { idempotencyKey: 'idle-1', idleAfter: 900 };
  await remote.patchDeployment(id, {}, key);
  await expect(remote.patchDeployment(id, {}, { ...key, idleAfter: 901 })).rejects.toMatchObject({ status: 422 });
});
