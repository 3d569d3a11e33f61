import { expect, test } from 'vitest';
import { deploymentStatuses } from '../../../../src/contract/control/deployment.ts';
import { deploymentStatus, statusMessage } from '../../../../src/services/control/deployments/status.ts';
import { tableOf } from '../../../docs-tables.ts';

test.each([
  ['before its database exists a deployment waits for it', 'absent', true, 'none', 'AWAITING_DATABASE'],
  ['without a database or pending revision it is unused', 'absent', false, 'none', 'UNUSED'],
  ['with a database it is ready, whatever its revisions do', 'ready', false, 'none', 'READY'],
  ['stays ready during a revision', 'ready', true, 'none', 'READY'],
  ['is unknown while its database does not respond', 'unreachable', true, 'none', 'UNKNOWN'],
  ['a deletion takes precedence', 'unreachable', true, 'asked', 'AWAITING_DELETE'],
  ['also before it ever had a database', 'absent', false, 'asked', 'AWAITING_DELETE'],
  ['until it is gone', 'ready', false, 'stopped', 'AWAITING_DELETE'],
] as const)('%s', (_, database, revisionOnItsWay, deletion, status) =>
  expect(deploymentStatus({ database, revisionOnItsWay, deletion })).toBe(status),
);

test.each([
  ['a status that explains itself has no message', 'none', 'READY', null, null, /^nothing$/],
  ['an unknown one names what does not respond', 'none', 'UNKNOWN', null, null, /database does not answer/],
  ['a deletion says that it is in progress', 'asked', 'AWAITING_DELETE', null, null, /^It is being deleted\.$/],
  ['or which listener it waits for', 'asked', 'AWAITING_DELETE', 'l-1', null, /waits until the listener l-1/],
  ['once the listener is done it waits for no one', 'stopped', 'AWAITING_DELETE', 'l-1', null, /being deleted\.$/],
  ['or what blocks it', 'stopped', 'AWAITING_DELETE', null, 'The role is in use.', /again: The role is in use\.$/],
] as const)('%s', (_, deletion, status, listenerId, deletionProblem, reported) => {
  expect(statusMessage({ status, deletion, listenerId, deletionProblem }) ?? 'nothing').toMatch(reported);
});

test('the design note gives every status a cause', () => {
  const rows = tableOf('docs/design/deployments-and-revisions.md', 'status', 'cause');
  expect(rows.filter(([, cause = '']) => cause.length < 20)).toEqual([]);
  expect(new Set(rows.map(([status]) => status))).toEqual(new Set(deploymentStatuses));
});
