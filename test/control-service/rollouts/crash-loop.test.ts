import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { givenUpMessage, restartedMessage } from '../../../src/control-service/rollouts/agent-fates.ts';
import { answering, askAgent, closeAll, deploy, forget, goesLive, history, until } from './house.ts';
import { openGround, openHouse } from './house.ts';

afterEach(closeAll);

/** Minutes go by in some milliseconds. */
const hurried: Clock = {
  now: () => systemClock.now(),
  sleep: (ms, signal) => systemClock.sleep(ms > 100_000 ? ms : Math.min(ms, 20), signal),
};

test('a live revision says that its agent was started again, and no more when it is well', async () => {
  const waits = new Map<number, () => void>();
  const clock: Clock = {
    now: () => systemClock.now(),
    sleep: (ms, signal) =>
      ms === 60_000
        ? new Promise((resolve) => waits.set(ms, resolve))
        : systemClock.sleep(ms > 100_000 ? ms : Math.min(ms, 100), signal),
  };
  const house = await openHouse(await openGround(), { clock });
  const asked = await deploy(house);
  await goesLive(house, asked);
  const told = async () => {
    const { status, status_message } = await house.control.getRevision(asked.id, asked.revisionId);
    return [status, status_message];
  };
  await askAgent(asked.url, '/crash');
  await until(async () => (await told())[1] !== null);
  expect(await told()).toEqual(['DEPLOYED', 'Restarted 1 time, last: exit code 7.']);
  await until(async () => (await answering(asked.url)) === asked.revisionId);
  await askAgent(asked.url, '/crash');
  await until(async () => (await told())[1] === 'Restarted 2 times, last: exit code 7.');
  await until(async () => (await answering(asked.url)) === asked.revisionId);
  waits.get(60_000)?.();
  await until(async () => (await told())[1] === null);
  expect((await told())[0]).toBe('DEPLOYED');
  waits.get(60_000)?.();
});

test('an agent that cannot be kept up ends its revision, with its last words; a redeploy serves again', async () => {
  const ground = await openGround();
  const gone = join(ground.root, 'gone');
  const house = await openHouse(ground, { clock: hurried });
  const asked = await deploy(house, { secrets: { FAKE_DIES_IF: gone } });
  await goesLive(house, asked);
  writeFileSync(gone, '');
  await askAgent(asked.url, '/crash');
  const revision = () => house.control.getRevision(asked.id, asked.revisionId);
  await until(async () => (await revision()).status === 'DEPLOY_FAILED');
  const { status_message } = await revision();
  expect(status_message).toBe(
    [
      "The agent broke down 10 times in a row and is not started again, last: The agent's process ended before it was healthy: exit code 3. It said last: The model is gone. Deploy a revision that stays up, or redeploy one.",
      'Its log ended:',
      'looking for the model',
      'The model is gone.',
    ].join('\n'),
  );
  expect(await house.control.getDeployment(asked.id)).toMatchObject({ active_revision_id: null, status: 'READY' });
  expect((await history(house, asked.revisionId)).slice(-2)).toEqual(['DEPLOYED', 'DEPLOY_FAILED']);
  expect(await answering(asked.url)).toBe('503');

  forget(gone);
  const { latest_revision_id } = await house.control.redeployRevision(asked.id, asked.revisionId);
  await goesLive(house, { id: asked.id, revisionId: latest_revision_id ?? '' });
  expect(await answering(asked.url)).toBe(latest_revision_id);
});

test.each([
  [1, 'Restarted 1 time, last: exit code 1.'],
  [3, 'Restarted 3 times, last: exit code 1.'],
])('%i restarts are told in words', (times, words) => {
  expect(restartedMessage(times, { how: 'exit code 1', said: ['unsaid'] })).toBe(words);
});

test('an agent that said nothing is given up without its words', () => {
  expect(givenUpMessage(10, { how: 'killed by SIGKILL', said: [] })).toBe(
    'The agent broke down 10 times in a row and is not started again, last: killed by SIGKILL. Deploy a revision that stays up, or redeploy one.',
  );
});
