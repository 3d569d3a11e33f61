import * as z from 'zod';
import type { GitHubApi } from '../../../app/github/github-api.ts';
import { deployment, deploymentsList } from '../../../src/contract/control/deployment.ts';
import { logPage } from '../../../src/contract/control/log.ts';
import { revision, revisionsList } from '../../../src/contract/control/revision.ts';
import type { ChangeOptions, ControlService } from '../../../src/contract/control/service.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { answered, takeAnswer } from './line-words.ts';
import type { TestedModel } from './model-smoke.ts';
import { outcomes } from './model-git.ts';

type Line = <T>(operation: string, schema: z.ZodType<T>, ...given: unknown[]) => Promise<T>;

/** A line to one party at `url`; each call is one request. */
const lineTo =
  (url: string, party: string): Line =>
  async (operation, schema, ...given) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ party, operation, given }) });
    return schema.parse(takeAnswer(answered.parse(await response.json())));
  };

const seenCheck = z.object({ name: z.string(), state: z.enum(['pending', 'passed', 'failed']) });

const none = z.unknown().transform(() => undefined);

/** The model of GitHub that lives in another process. */
export function remoteHub(url: string): GitHubApi {
  const line = lineTo(url, 'githubApi');
  const head = z.object({ sha: z.string(), message: z.string(), committedAt: z.number() }).optional();
  const comparison = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('ahead'), paths: z.array(z.string()) }),
    z.object({ kind: z.literal('identical') }),
    z.object({ kind: z.literal('unavailable'), why: z.string() }),
  ]);
  const pull = z
    .object({
      headSha: z.string(),
      headBranch: z.string().exactOptional(),
      baseBranch: z.string(),
      isOpen: z.boolean(),
      isMerged: z.boolean(),
      labels: z.array(z.string()),
      headRef: z.string(),
      isFork: z.boolean(),
      repositoryUrl: z.string(),
      headUrl: z.string().exactOptional(),
    })
    .optional();
  return {
    head: (at, branch) => line('head', head, at, branch),
    compare: (at, base, to) => line('compare', comparison, at, base, to),
    file: (at, path, ref) => line('file', z.string().optional(), at, path, ref),
    checksOf: (at, commit) => line('checksOf', z.object({ seen: z.array(seenCheck) }), at, commit),
    environmentProtection: (at, environment, branch) =>
      line('environmentProtection', z.object({ kind: z.enum(['none', 'unread']) }), at, environment, branch),
    membershipOf: (at, team, login) => line('membershipOf', z.enum(['member', 'other', 'unread']), at, team, login),
    peopleOf: (at, commit) => line('peopleOf', z.array(z.string()), at, commit),
    requiredChecks: (at, branch) => line('requiredChecks', z.array(z.object({ name: z.string() })), at, branch),
    defaultBranch: (at) => line('defaultBranch', z.string(), at),
    permissionOf: (at, login, userId) =>
      line('permissionOf', z.enum(['admin', 'write', 'read', 'none']), at, login, userId),
    writeCheck: (at, id, content) => line('writeCheck', z.number(), at, id, content),
    makeDeployment: (at, content) => line('makeDeployment', z.number(), at, content),
    writeDeploymentStatus: (at, id, content) => line('writeDeploymentStatus', none, at, id, content),
    pullRequest: (at) => line('pullRequest', pull, at),
    writeComment: (at, id, body) => line('writeComment', z.number(), at, id, body),
    react: (at, commentId, reaction) => line('react', none, at, commentId, reaction),
  };
}

/** The model of the control service that lives in another process. */
export function remoteControl(url: string): ControlService {
  const line = lineTo(url, 'control');
  const lacks = async (): Promise<never> => {
    throw serviceError('missing', 'ask for what the model lacks', { status: 404 });
  };
  return {
    getDeployment: (id) => line('getDeployment', deployment, id),
    getRevision: (id, revisionId) => line('getRevision', revision, id, revisionId),
    listRevisions: (id, query) => line('listRevisions', revisionsList, id, query),
    listDeployments: (query) => line('listDeployments', deploymentsList, query),
    patchDeployment: (id, request, options) => line('patchDeployment', deployment, id, request, ours(options)),
    promoteRevision: (id, revisionId) => line('promoteRevision', revision, id, revisionId),
    discardRevision: (id, revisionId) => line('discardRevision', revision, id, revisionId),
    redeployRevision: (id, revisionId, options) => line('redeployRevision', deployment, id, revisionId, ours(options)),
    features: () =>
      line(
        'features',
        z.object({
          idempotencyKeys: z.boolean(),
          verdicts: z.boolean(),
          holds: z.boolean().optional(),
          pinsCommits: z.boolean().optional(),
          copiesBuilds: z.boolean().optional(),
        }),
      ),
    buildLogs: (id, revisionId) => line('buildLogs', logPage, id, revisionId),
    deployLogs: (id, revisionId) => line('deployLogs', logPage, id, revisionId),
    createDeployment: lacks,
    listIntegrations: lacks,
    listListeners: lacks,
    listRepositories: lacks,
    reportVerdict: lacks,
    getBaseline: lacks,
    keepBaseline: lacks,
  };
}

const ours = ({ ifLatest, idempotencyKey, holdSeconds, commit, buildOf }: ChangeOptions = {}) => ({
  ifLatest,
  idempotencyKey,
  holdSeconds,
  commit,
  buildOf,
});

/** What smoke tests see of the models in the other process. */
export function remoteTested(url: string): TestedModel {
  const line = lineTo(url, 'control');
  const orNone = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);
  return {
    fateOf: (deploymentId, heldAt) => line('fateOf', orNone(z.enum(outcomes)), deploymentId, heldAt),
    serving: (deploymentId) => line('serving', orNone(z.string()), deploymentId),
    openThread: (id) => line('openThread', none, id),
    closeThread: (id) => line('closeThread', none, id),
    mistook: (what) => line('mistook', none, what),
  };
}
