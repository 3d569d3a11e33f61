import type { InstallationRepository } from '../../../app/github/github-api.ts';
import type { DeployTerms } from '../../../app/reconcile/deploy-request.ts';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';

/** The checks that pushes wait for in some histories, and for how long (ms). */
export const gates = ['build', 'lint'] as const;
export const gateMs = 60 * 60_000;

/** The one repository of every history. */
export const repository: InstallationRepository = {
  installationId: 1,
  repositoryId: 70,
  owner: 'acme',
  name: 'agents',
};
/** The branch that is deployed. */
export const branch = 'main';
/** The pull request on which people give commands. */
export const pullNumber = 7;
export const deploymentIds = ['d1000000-0000-4000-8000-000000000000', 'd2000000-0000-4000-8000-000000000000'] as const;

/** When histories begin (ms since the epoch). */
export const begin = Date.parse('2026-11-21T06:00:00Z');

const firstEnvironment = { deploymentId: deploymentIds[0], name: 'd1' };

const gateOf = (hold: boolean, frozenMs: number) => ({
  environment: 'gated',
  hold,
  freeze: frozenMs > 0 ? [{ kind: 'once', from: 0, until: begin + frozenMs } as const] : [],
});

const greets: SmokeTest = {
  name: 'greets',
  assistant: 'agent',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: [],
  attempts: 1,
  timeoutMs: 30_000,
};

const design = { kind: 'live', atOnce: 1, tries: 30, drop: 0.3, tests: 3 } as const;

/** Tests that compare with the live revision: two with answers that are kept, and one that compares times. */
const comparing: SmokeTest[] = [
  { ...greets, input: 'hello', series: { ...design, decideBy: ['pass-rate'] } },
  { ...greets, name: 'parts', input: 'bye', series: { ...design, decideBy: ['pass-rate'] } },
  { ...greets, name: 'thanks', input: 'thanks', series: { ...design, decideBy: ['total'] } },
];

/** What may differ from one history to the next. */
export type VaryingTerms = Pick<DeployTerms, 'builder' | 'onFailure'> & {
  afterRollback: DeployTerms['rules']['afterRollback'];
  smokeTests: boolean;
  compares?: boolean | undefined;
  waits?: boolean | undefined;
  promotes?: boolean | undefined;
  holding?: 'first' | 'second' | undefined;
  frozenMs?: number | undefined;
};

/** The second deployment has a path filter, and skips commits with a skip marker; or it is promoted from the first. */
export function termsOf(
  deploymentId: string,
  { builder, onFailure, afterRollback, smokeTests, compares, waits, promotes, holding, frozenMs = 0 }: VaryingTerms,
): DeployTerms {
  const isSecond = deploymentId === deploymentIds[1];
  const strict = isSecond && !promotes;
  return {
    deploymentName: deploymentId.slice(0, 2),
    builder,
    rules: {
      skipWords: strict ? ['[skip deploy]'] : [],
      afterRollback,
      ...(waits ? { deployAfter: { checks: gates, timeoutMs: gateMs } } : {}),
      ...(strict ? { paths: { include: ['**/*.py'], exclude: [] } } : {}),
    },
    smokeTests: smokeTests ? (compares ? comparing : [greets]) : [],
    onFailure,
    environment: { name: promotes && !isSecond ? 'staging' : 'production', production: true, transient: false },
    ...(isSecond || holding
      ? { gate: gateOf(holding === (isSecond ? 'second' : 'first'), isSecond ? frozenMs : 0) }
      : {}),
    ...(promotes ? (isSecond ? { promotedFrom: firstEnvironment } : { promotesTo: ['d2'] }) : {}),
    differences: [],
    timeoutMs: 30 * 60_000,
    notes: [],
  };
}
