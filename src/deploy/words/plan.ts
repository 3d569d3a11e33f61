import { ruleOf } from '../../contract/control/field-rules.ts';
import type { PatchEffect } from '../../contract/control/deployment-field.ts';
import { say, type Sayings } from '../../kit/coded.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import type { UnknownCommitFacts } from '../rules/commit.ts';
import { boundPlanObstacles } from './bound-plan.ts';
import { earlierObstacles } from './earlier-obstacles.ts';
import { tarballField } from '../rules/plan-fields.ts';
import type {
  ChangeFacts,
  FieldChange,
  Obstacle,
  ObstacleFacts,
  Plan,
  PlanNoteFacts,
  PlanReason,
  RebuildFacts,
} from '../rules/plan-types.ts';

/** A change as it may be shown to anybody. */
export type ReportedChange = Omit<FieldChange, 'why'> & { why: string };

/** A field that stands in the way, and what a person can do about it. */
export interface ReportedObstacle {
  field: string;
  problem: string;
  advice: string;
}

/** A plan as it may be shown to anybody: the request, which carries secrets, is left out. */
export type ReportedPlan =
  | { kind: 'create'; changes: readonly ReportedChange[] }
  | { kind: 'patch'; changes: readonly ReportedChange[]; makesRevision: boolean }
  | { kind: 'none'; why: string }
  | { kind: 'impossible'; obstacles: readonly ReportedObstacle[] };

export function reportedPlan(plan: Plan): ReportedPlan {
  if (plan.kind === 'impossible') return { kind: plan.kind, obstacles: plan.obstacles.map(reportedObstacle) };
  if (plan.kind === 'none') return { kind: plan.kind, why: planReason(plan.why) };
  const shown = plan.changes.map((change) => ({ ...change, why: say(changes, change.why) }));
  return plan.kind === 'create'
    ? { kind: plan.kind, changes: shown }
    : { kind: plan.kind, changes: shown, makesRevision: plan.makesRevision };
}

function reportedObstacle(obstacle: Obstacle): ReportedObstacle {
  const [problem, advice] = say(obstacles, obstacle);
  return { field: obstacle.field, problem, advice };
}

/** The input that sets a field: `repo-url` sets `source_config.repo_url`. */
const inputOf = (path: string): string => (path === tarballField ? 'source-dir' : ruleOf(path).name);

const nameOf = (path: string): string => path.split('.').slice(1).join('.');

const anotherName = 'or give another name to create a new deployment.';

/** What stands in the way as a clause, and what to do about it as a sentence. */
const obstacles: Sayings<ObstacleFacts, [problem: string, advice: string]> = {
  ...boundPlanObstacles,
  ...earlierObstacles,
  missing: ({ source, field }) => [
    `a deployment of source ${source} cannot be created without it`,
    `Give ${inputOf(field)}.`,
  ],
  choices: ({ choices, field }) => [
    `none was chosen, and there are ${choices.length}: ${choices.map(({ id, name }) => `${name} (${id})`).join(', ')}`,
    `Set ${inputOf(field)} to one of these ids.`,
  ],
  fixed: ({ from, to, field }) =>
    from === undefined
      ? [
          `it was left open when the deployment was created, and it cannot be set to ${to} afterwards`,
          `Remove ${inputOf(field)}, ${anotherName}`,
        ]
      : [fixedWords(from, to), `Set ${inputOf(field)} to ${from} or remove it, ${anotherName}`],
  'other-source': ({ from, to }) => [fixedWords(from, to), `Set source to ${from}, ${anotherName}`],
  'other-name': ({ name }) => [
    `the deployment of this deployment-id is named ${name}, and a name cannot be changed`,
    `Set name to ${name} or remove it, or remove deployment-id to find one by its name.`,
  ],
  'ambiguous-name': ({ name, ids }) => [
    `${ids.length} deployments are named ${name}: ${ids.join(', ')}`,
    'Set deployment-id to one of these ids.',
  ],
  'deployments-unlisted': () => [
    'this service does not list deployments, so the name cannot be looked up',
    'Give deployment-id.',
  ],
  'not-a-preview': () => [
    'the deployment of this name is not the preview of this pull request, so it is not touched',
    'Give `preview.name` in the deploy file another beginning, or delete the deployment by hand.',
  ],
  'not-pinned': () => [
    'this service builds the head of the branch, which the fork may change after a commit of it was approved',
    'Check out the approved commit and upload its folder (source: internal_source), or build an image of it.',
  ],
  'being-deleted': ({ status }) => [
    `the deployment is being deleted (${status})`,
    'Run this again when it is gone, or give another name.',
  ],
  'tag-on-push': ({ ref, isRequested }) => [
    `it is ${isRequested ? 'requested' : 'on'}, and ${ref} is a tag: tags are not built on push`,
    'Set build-on-push to false, or repo-ref to a branch.',
  ],
  'awaits-folder': ({ revisionId, isForbidden }) => [
    `revision ${revisionId} waits for a folder to be uploaded`,
    isForbidden ? 'Set rebuild to auto.' : 'Give source-dir.',
  ],
  'nothing-live': ({ ended }) => [
    `nothing is live${ended ? ` (${endedWords(ended)})` : ''}, and rebuild: never forbids to build again`,
    'Set rebuild to auto.',
  ],
  'source-unreported': ({ field }) => [
    'a new revision is needed, and the service does not report what the deployment is made from',
    `Give ${inputOf(field)}.`,
  ],
  'secrets-unlisted': () => [
    'the service does not say which secrets there are, and changing one replaces all of them',
    'Set secrets-strategy to overwrite, and name all secrets that the deployment needs.',
  ],
  'secret-lost': ({ field }) => [
    'the service hides its value, and a change of any secret replaces all of them, so it would be lost',
    `Add ${nameOf(field)} to secrets, or set secrets-strategy: overwrite to remove it.`,
  ],
  'resource-lost': ({ field }) => [
    'it holds something that is not known here, and it would be lost, as resource_spec is sent whole',
    `Set ${nameOf(nameOf(field))} in resource-spec as well.`,
  ],
  resources: ({ problem }) => [
    problem,
    'Correct it in resource-spec; existing values that were not given are sent along.',
  ],
  'other-commit': ({ commit, head }) =>
    head
      ? [
          `${shortCommit(commit)} would have to be built, and the service builds the head of the ref, which is ${shortCommit(head)}`,
          'Set repo-ref to a branch or a tag of this commit, or remove commit.',
        ]
      : [
          `${shortCommit(commit)} would have to be built, and it is not known here whether it is the head of the ref`,
          'Check out the repository first; a workflow may give github-token instead.',
        ],
};

const fixedWords = (from: string, to: string | undefined): string =>
  `it is ${from} since the deployment was created, and it cannot be changed to ${to}`;

const endedWords = ({ revisionId, status }: { revisionId: string; status: string }): string =>
  `revision ${revisionId} ended ${status}`;

/** Why something is done or not, as a clause without a full stop; so are the following. */
const reasons: Sayings<RebuildFacts> = {
  'rebuild-always': () => 'rebuild is always',
  'rebuild-never': () => 'no field differs, and rebuild is never',
  'no-revision': () => 'there is no revision yet',
  'image-same': () => 'nothing differs from what is live',
  'image-live': ({ image }) => `image ${image} is live already`,
  'folder-same': () => 'the folder is live as it is',
  'folder-differs': () => 'the folder differs from what was uploaded last',
  'nothing-uploaded': () => 'nothing was uploaded yet',
  'digest-unreported': () => 'this service does not report the digest of what was uploaded last',
  'commit-unknown': ({ because }) => `the requested commit is not known (${say(unknownCommits, because)})`,
  'commit-live': ({ commit }) => `commit ${shortCommit(commit)} is live already`,
  'commit-not-live': ({ commit, live }) =>
    `commit ${shortCommit(commit)} is not live${live ? `, ${shortCommit(live)} is` : ''}`,
  'live-commit-unreported': () => 'the live revision does not report which commit it was built from',
  'commit-unreported': ({ revisionId, status }) =>
    `revision ${revisionId} is on its way (${status}) and does not report its commit yet`,
  'on-its-way': ({ revisionId, status, commit }) =>
    commit
      ? `revision ${revisionId} of commit ${shortCommit(commit)} is on its way already (${status})`
      : `nothing differs from revision ${revisionId}, which is on its way already (${status})`,
  ended: ({ commit, mayLack, ...ended }) => {
    const of = commit ? ` for commit ${shortCommit(commit)}` : '';
    return `${endedWords(ended)}${of}${mayLack ? ', and the live one may lack what it carried' : ''}`;
  },
};

const planReason = (reason: PlanReason): string =>
  'field' in reason ? say(obstacles, reason)[0] : say(reasons, reason);

const unknownCommits: Sayings<UnknownCommitFacts> = {
  folder: () => 'a folder is not built from a commit here',
  image: () => 'an image is not built from a commit here',
  'ref-unreported': () => 'the service does not report which repository and ref it builds',
  'no-workflow': () => 'no workflow says which commit it runs on',
  'other-workflow': ({ ref, repository }) =>
    `this workflow runs on ${ref} of ${repository}, which is not what is deployed`,
};

const effects: Record<PatchEffect, string> = {
  revision: 'it makes a revision',
  'in-place': 'it changes in place',
  'next-revision': 'it takes effect with the next revision',
  fixed: 'it is set for good',
  'read-only': 'the service sets it',
};

const changes: Sayings<ChangeFacts> = {
  created: () => 'the deployment is created with it',
  'uploaded-later': () => 'it is uploaded once the deployment is created',
  differs: ({ patch }) => `it differs, and ${effects[patch]}`,
  'resource-differs': () => 'it differs, and resource_spec is sent whole',
  'resource-default': () => 'it was at the default that follows from a field that changes',
  'secret-missing': () => 'it is not there',
  'secret-differs': () => 'it differs',
  'secret-hidden': () => "it can't be compared, because the service hides its value",
  'secret-dropped': () => 'it is not in the configuration, and secrets-strategy is overwrite',
  'secrets-unlisted': () => 'the service does not say which secrets there are, so all of them are replaced',
  'reference-dropped': () => 'it is not in the configuration, and the list is replaced whole',
  restated: ({ reason }) => `restated so that a revision is made: ${planReason(reason)}`,
  uploaded: ({ reason }) => planReason(reason),
};

/** How many files of a folder are named. */
const maxNamed = 5;

const named = (paths: readonly string[]): string => paths.slice(0, maxNamed).join(', ');

/** Each note as a clause without a full stop. */
export const planNotes: Sayings<PlanNoteFacts> = {
  'built-to-be-sure': ({ reason }) =>
    `${say(reasons, reason)}: ${reason.code === 'digest-unreported' ? 'it is uploaded' : 'the ref is built'} again to be sure`,
  'commit-unreported': (revision) => say(reasons, revision),
  'newer-waits': ({ revisionId, commit }) =>
    `a newer revision (${revisionId}) waits behind the one of ${shortCommit(commit)}`,
  'newest-ended': (revision) => `the newest ${endedWords(revision)} and does not serve`,
  'newest-takes-over': ({ revisionId, status }) =>
    `revision ${revisionId} of another commit is on its way (${status}) and will take over`,
  'image-unpinned': ({ image, why }) =>
    `image ${image} can change under the same name, and ${why}: what was pushed since is not recognised; name a digest, or set rebuild to always`,
  'later-effect': ({ fields }) => `${fields.join(', ')}: changed, and without effect until the next revision`,
  'field-unreported': ({ field }) => `${field} could not be compared: the service does not report it`,
  'resource-unused': ({ field }) => `${field} has no effect: the service marks it as not to be used`,
  'resource-unknown': ({ field }) => `${field} is not known here and goes, as it is sent whole`,
  'folder-unseen': () => 'what would be uploaded is not known here: the folder was not looked at',
  'variables-left-out': ({ paths }) =>
    `the variables in ${named(paths)} are not uploaded; give the agent those that it needs as secrets (\`secrets\`, or --secrets NAME)`,
  'left-out': ({ paths }) =>
    `left out of the upload by default: ${named(paths)}${paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : ''}; a line with ! in .landfallignore takes one in`,
  'integration-found': ({ name, reaches }) =>
    `using integration ${name}: it ${reaches ? 'reaches' : 'is the only one that may reach'} the repository`,
  'listener-found': ({ name }) => `using listener ${name}: it is the only one that fits`,
  'ids-unlisted': ({ of }) => `this service does not list ${of}s: none is named`,
  'ids-absent': ({ of }) => `this service has no ${of}: none is named`,
  'repository-unreached': ({ repoUrl }) => `no integration of this service reaches ${repoUrl}: none is named`,
};
