import { expect, test } from 'vitest';
import { jobOf } from '../../../app/inbox/delivery.ts';
import { createSlots } from '../../../app/inbox/delivery-worker.ts';

const of = (event: string) => jobOf({ id: 'a', event, installationId: 5, repositoryId: 7 });

test.each(['push', 'delete', 'check_run', 'check_suite', 'merge_group', 'repository'])(
  'a delivery of %s takes turns with others of its repository',
  (event) => {
    expect(of(event)).toEqual({
      name: 'delivery',
      data: { id: 'a', installationId: 5, group: 'repository 7' },
      group: 'repository 7',
    });
  },
);

test.each(['pull_request', 'issue_comment', 'fork', 'anything'])(
  'a delivery of %s, which strangers can send, takes turns with others of its account',
  (event) => {
    const data = { id: 'a', installationId: 5, group: 'installation 5' };
    expect(of(event)).toEqual({ name: 'delivery-of-strangers', data, group: 'installation 5' });
  },
);

test('a delivery of an account as a whole takes turns with others of it', () => {
  const job = jobOf({ id: 'a', event: 'installation', installationId: 5, repositoryId: undefined });
  expect(job.group).toBe('installation 5');
  const bare = jobOf({ id: 'a', event: 'ping', installationId: undefined, repositoryId: undefined });
  expect(bare).toEqual({ name: 'delivery-of-strangers', data: { id: 'a' } });
});

test('an installation has no more places than it may have now, and others keep theirs', async () => {
  const places = createSlots((installationId) => (installationId === 1 ? 1 : 2));
  const ends: (() => void)[] = [];
  const work = (): Promise<void> => new Promise((resolve) => void ends.push(resolve));
  const first = places.run(1, work);
  expect(await places.run(1, work)).toBe(false);
  const others = [places.run(2, work), places.run(2, work), places.run(undefined, work)];
  expect(await places.run(2, work)).toBe(false);
  for (const end of ends.splice(0)) end();
  expect(await Promise.all([first, ...others])).toEqual([true, true, true, true]);
  await expect(places.run(1, () => Promise.reject(new Error('it fails')))).rejects.toThrow('it fails');
  expect(await places.run(1, async () => undefined)).toBe(true);
});
