import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { ServiceError } from '../../../../src/contract/service-error.ts';
import { fromGit, openServiceFixture, refusalOf } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

let fixture: ServiceFixture | undefined;
afterEach(() => fixture?.close());

let numbers = 0;
const preview = () => {
  const number = (numbers += 1);
  return fromGit({
    name: `support-pr-${number}-0123456789abcdef`,
    secrets: [{ name: 'LANDFALL_PREVIEW', value: `4711/${number}/support` }],
  });
};

test('a tenant has at most its number of previews, however many are made at once', async () => {
  fixture = await openServiceFixture({ maxPreviews: 3 });
  const { control, stranger, rollouts } = fixture;
  const made = await Promise.allSettled(Array.from({ length: 8 }, () => control.createDeployment(preview())));
  const ids = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value.id] : []));
  expect(ids).toHaveLength(3);
  const refusals = made.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refusals.every((each) => each instanceof ServiceError && each.status === 400)).toBe(true);

  const idempotencyKey = randomUUID();
  const request = preview();
  expect(await refusalOf(control.createDeployment(request, { idempotencyKey }))).toMatchObject({
    status: 400,
    detail:
      'This workspace has as many previews as the service allows: 3. Remove one, or let the operator allow more (--max-previews).',
  });
  // Neither other deployments nor other tenants count.
  await control.createDeployment(fromGit());
  await stranger.createDeployment(preview());
  await rollouts.settled();
  await control.deleteDeployment(ids[0] ?? '', { deleteTracingProject: true });
  await rollouts.settled();
  expect(await control.createDeployment(request, { idempotencyKey })).toMatchObject({ name: request.name });
  await rollouts.settled();
});

test('without a bound there are any number, and a bound of none allows none', async () => {
  fixture = await openServiceFixture();
  for (let made = 0; made < 3; made += 1) await fixture.control.createDeployment(preview());
  await fixture.rollouts.settled();
  await fixture.close();
  fixture = await openServiceFixture({ maxPreviews: 0 });
  expect(await refusalOf(fixture.control.createDeployment(preview()))).toMatchObject({ status: 400 });
});

test('one that gets the mark later counts, and one that loses it does not', async () => {
  fixture = await openServiceFixture({ maxPreviews: 1 });
  const { control, rollouts } = fixture;
  const { id } = await control.createDeployment(fromGit());
  await rollouts.settled();
  await control.patchDeployment(id, { secrets: [{ name: 'LANDFALL_PREVIEW', value: '4711/1/support' }] });
  await rollouts.settled();
  expect(await refusalOf(control.createDeployment(preview()))).toMatchObject({ status: 400 });
  await control.patchDeployment(id, { secrets: [] });
  await rollouts.settled();
  expect(await control.createDeployment(preview())).toMatchObject({ source: 'github' });
  await rollouts.settled();
});
