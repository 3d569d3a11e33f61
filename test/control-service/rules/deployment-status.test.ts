import { expect, test } from 'vitest';
import { deploymentStatuses } from '../../../src/contract/control/deployment.ts';
import { deploymentStatus, statusMessage } from '../../../src/control-service/rules/deployment-status.ts';
import { tableOf } from '../../docs-tables.ts';

test.each([
  ['before its database stands a deployment waits for it', 'absent', true, 'none', 'AWAITING_DATABASE'],
  ['without one and with nothing on its way it is unused', 'absent', false, 'none', 'UNUSED'],
  ['with one it is ready, whatever becomes of revisions', 'ready', false, 'none', 'READY'],
  ['and stays so while a revision is on its way', 'ready', true, 'none', 'READY'],
  ['where the database does not answer nothing is known', 'unreachable', true, 'none', 'UNKNOWN'],
  ['one that is to be deleted says so before anything else', 'unreachable', true, 'asked', 'AWAITING_DELETE'],
  ['also before it ever had a database', 'absent', false, 'asked', 'AWAITING_DELETE'],
  ['once nothing of it runs the end is near', 'ready', false, 'stopped', 'AWAITING_FINAL_DELETE'],
] as const)('%s', (_, database, revisionOnItsWay, deletion, status) =>
  expect(deploymentStatus({ database, revisionOnItsWay, deletion })).toBe(status),
);

test.each([
  ['a status that explains itself has no message', 'READY', null, null, /^nothing$/],
  ['an unknown one says what does not answer', 'UNKNOWN', null, null, /database does not answer/],
  ['a deletion says that it goes on', 'AWAITING_DELETE', null, null, /^It is being deleted\.$/],
  ['or whom it waits for', 'AWAITING_DELETE', 'l-1', null, /waits until the listener l-1/],
  ['once the listener is done it waits for nobody', 'AWAITING_FINAL_DELETE', 'l-1', null, /^It is being deleted\.$/],
  [
    'or what stands in its way',
    'AWAITING_FINAL_DELETE',
    null,
    'The role is in use.',
    /tried again: The role is in use\.$/,
  ],
] as const)('%s', (_, status, listenerId, deletionProblem, reported) => {
  expect(statusMessage({ status, listenerId, deletionProblem }) ?? 'nothing').toMatch(reported);
});

test('the design note gives every status a cause', () => {
  const rows = tableOf('docs/design/deployments-and-revisions.md', 'status', 'cause');
  expect(rows.filter(([, cause = '']) => cause.length < 20)).toEqual([]);
  expect(rows.map(([status]) => status).toSorted()).toEqual([...deploymentStatuses].toSorted());
});
