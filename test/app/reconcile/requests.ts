import type { CheckContent, InstallationRepository } from '../../../app/github/github-api.ts';
import type { DeployTerms, DeployRequest } from '../../../app/reconcile/deploy-request.ts';
import { checkName, type DesiredReport } from '../../../app/reconcile/report.ts';

export const start = Date.parse('2026-11-21T08:00:00Z');

export const repository: InstallationRepository = {
  installationId: 11,
  repositoryId: 22,
  owner: 'acme',
  name: 'agents',
};

/** Commits that are easy to recognise. */
export const commitOf = (letter: string): string => letter.repeat(40);

export const terms: DeployTerms = {
  deploymentName: 'support',
  builder: 'app',
  rules: { skipWords: ['[skip deploy]'], afterRollback: 'continue' },
  smokeTests: [],
  onFailure: 'keep',
  environment: { name: 'production', production: true, transient: false },
  differences: [],
  timeoutMs: 30 * 60_000,
  notes: [],
};

/** A smoke test; the smoke test runner decides its result. */
const greets = {
  name: 'greets',
  assistant: 'agent',
  input: {},
  thread: false,
  streamModes: [],
  expect: [],
  timeoutMs: 1_000,
  attempts: 1,
};

/** Terms with a smoke test, and a rollback if it fails. */
export const tested: DeployTerms = { ...terms, smokeTests: [greets], onFailure: 'rollback' };

/** Terms whose smoke test compares with the live revision, by answers that are kept. */
export const comparing: DeployTerms = {
  ...tested,
  smokeTests: [
    { ...greets, series: { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } },
  ],
};

/** A request of this commit, by a push unless stated otherwise. */
export function requestOf(
  commit: string,
  more: Partial<DeployRequest> & { kind?: DeployRequest['cause']['kind']; key?: string } = {},
): DeployRequest {
  const { kind = 'push', key = `delivery-of-${commit.slice(0, 3)}`, ...rest } = more;
  return {
    deploymentId: 'deployment-1',
    repository,
    branch: 'main',
    commit,
    cause: { kind, key, at: start },
    terms,
    sending: { kind: 'restate', repoRef: 'main' },
    ...rest,
  };
}

/** A check of a commit with a one-word title. */
export function checkSaying(title: string, commit: string, status: CheckContent['status'] = 'queued'): DesiredReport {
  return {
    kind: 'check',
    repository,
    headSha: commit,
    name: checkName('support'),
    wanted: { kind: 'check', content: { status, title, summary: title } },
  };
}
