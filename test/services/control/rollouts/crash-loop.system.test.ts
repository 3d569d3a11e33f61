import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { givenUpMessage, restartedMessage } from '../../../../src/services/control/rollouts/agent-exits.ts';
import { answering, requestAgent, closeAll, deploy, forget, goesLive, history, until } from './running-service.ts';
import { openMachine, startService } from './running-service.ts';

afterEach(closeAll);

/** Minutes pass in a few milliseconds. */
const hurried: Clock = {
  now: () => systemClock.now(),
  sleep: (ms, signal) => systemClock.sleep(ms > 100_000 ? ms : Math.min(ms, 20), signal),
};

test('a live revision reports restarts of its agent until it is healthy again', async () => {
  const waits = new Map<number, () => void>();
  const clock: Clock = {
    now: () => systemClock.now(),
    sleep: (ms, signal) =>
      ms === 60_000
        ? new Promise((resolve) => waits.set(ms, resolve))
        : systemClock.sleep(ms > 100_000 ? ms : Math.min(ms, 100), signal),
  };
  const instance = await startService(await openMachine(), { clock });
  const requested = await deploy(instance);
  await goesLive(instance, requested);
  const recorded = async () => {
    const { status, status_message } = await instance.control.getRevision(requested.id, requested.revisionId);
    return [status, status_message];
  };
  await requestAgent(requested.url, '/crash');
  await until(async () => (await recorded())[1] !== null);
  expect(await recorded()).toEqual(['DEPLOYED', 'Restarted 1 time, last: exit code 7.']);
  await until(async () => (await answering(requested.url)) === requested.revisionId);
  await requestAgent(requested.url, '/crash');
  await until(async () => (await recorded())[1] === 'Restarted 2 times, last: exit code 7.');
  await until(async () => (await answering(requested.url)) === requested.revisionId);
  waits.get(60_000)?.();
  await until(async () => (await recorded())[1] === null);
  expect((await recorded())[0]).toBe('DEPLOYED');
  waits.get(60_000)?.();
});

test('a crash loop ends the revision with its last output; a redeploy serves again', async () => {
  const machine = await openMachine();
  const gone = join(machine.root, 'gone');
  const instance = await startService(machine, { clock: hurried });
  const requested = await deploy(instance, { secrets: { FAKE_DIES_IF: gone } });
  await goesLive(instance, requested);
  writeFileSync(gone, '');
  await requestAgent(requested.url, '/crash');
  const revision = () => instance.control.getRevision(requested.id, requested.revisionId);
  await until(async () => (await revision()).status === 'DEPLOY_FAILED');
  const { status_message } = await revision();
  expect(status_message).toBe(
    [
      "The agent broke down 10 times in a row and is not started again, last: The agent's process ended before it was healthy: exit code 3. Its last line: The model is gone. Deploy a revision that stays up, or redeploy one.",
      'Its log ended:',
      'looking for the model',
      'The model is gone.',
    ].join('\n'),
  );
  expect(await instance.control.getDeployment(requested.id)).toMatchObject({
    active_revision_id: null,
    status: 'READY',
  });
  expect((await history(instance, requested.revisionId)).slice(-2)).toEqual(['DEPLOYED', 'DEPLOY_FAILED']);
  expect(await answering(requested.url)).toBe('503');

  forget(gone);
  const { latest_revision_id } = await instance.control.redeployRevision(requested.id, requested.revisionId);
  await goesLive(instance, { id: requested.id, revisionId: latest_revision_id ?? '' });
  expect(await answering(requested.url)).toBe(latest_revision_id);
});

test.each([
  [1, 'Restarted 1 time, last: exit code 1.'],
  [3, 'Restarted 3 times, last: exit code 1.'],
])('describes %i restarts in words', (times, words) => {
  expect(restartedMessage(times, { reason: 'exit code 1', lastLines: ['unsaid'] })).toBe(words);
});

test('an agent without output is given up without a last line', () => {
  expect(givenUpMessage(10, { reason: 'killed by SIGKILL', lastLines: [] })).toBe(
    'The agent broke down 10 times in a row and is not started again, last: killed by SIGKILL. Deploy a revision that stays up, or redeploy one.',
  );
});
