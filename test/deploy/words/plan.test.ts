import { expect, test } from 'vitest';
import type { Obstacle, ChangeReason, PlanNote, PlanReason } from '../../../src/deploy/rules/plan-types.ts';
import { noteText } from '../../../src/deploy/words/note.ts';
import { reportedPlan } from '../../../src/deploy/words/plan.ts';

const [commit, other] = ['a'.repeat(40), 'b'.repeat(40)];
const building = { revisionId: 'r2', status: 'BUILDING' };
const failed = { revisionId: 'r2', status: 'DEPLOY_FAILED' };
const ref = 'refs/tags/v1';
const choices = [
  { id: 'l1', name: 'east' },
  { id: 'l2', name: 'west' },
];
const tarball = 'source_revision_config.source_tarball_path';
const anotherName = 'or give another name to create a new deployment.';

test.each<[Obstacle, problem: string, advice: string]>([
  [
    { field: 'name', code: 'missing', source: 'github' },
    'a deployment of source github cannot be created without it',
    'Give name.',
  ],
  [
    { field: tarball, code: 'missing', source: 'internal_source' },
    'a deployment of source internal_source cannot be created without it',
    'Give source-dir.',
  ],
  [
    { field: 'source_config.listener_id', code: 'choices', choices },
    'none was chosen, and there are 2: east (l1), west (l2)',
    'Set listener-id to one of these ids.',
  ],
  [
    { field: 'source_config.listener_config.k8s_namespace', code: 'fixed', from: undefined, to: 'agents' },
    'it was left open when the deployment was created, and it cannot be set to agents afterwards',
    `Remove k8s-namespace, ${anotherName}`,
  ],
  [
    {
      field: 'source_config.repo_url',
      code: 'fixed',
      from: 'https://github.com/acme/a',
      to: 'https://github.com/acme/b',
    },
    'it is https://github.com/acme/a since the deployment was created, and it cannot be changed to https://github.com/acme/b',
    `Set repo-url to https://github.com/acme/a or remove it, ${anotherName}`,
  ],
  [
    { field: 'source', code: 'other-source', from: 'github', to: 'external_docker' },
    'it is github since the deployment was created, and it cannot be changed to external_docker',
    `Set source to github, ${anotherName}`,
  ],
  [
    { field: 'name', code: 'other-name', name: 'agent' },
    'the deployment of this deployment-id is named agent, and a name cannot be changed',
    'Set name to agent or remove it, or remove deployment-id to find one by its name.',
  ],
  [
    { field: 'name', code: 'ambiguous-name', name: 'agent', ids: ['d1', 'd2'] },
    '2 deployments are named agent: d1, d2',
    'Set deployment-id to one of these ids.',
  ],
  [
    { field: 'name', code: 'deployments-unlisted' },
    'this service does not list deployments, so the name cannot be looked up',
    'Give deployment-id.',
  ],
  [
    { field: 'status', code: 'being-deleted', status: 'AWAITING_DELETE' },
    'the deployment is being deleted (AWAITING_DELETE)',
    'Run this again when it is gone, or give another name.',
  ],
  [
    { field: 'source_config.build_on_push', code: 'tag-on-push', ref, isRequested: true },
    'it is requested, and refs/tags/v1 is a tag: tags are not built on push',
    'Set build-on-push to false, or repo-ref to a branch.',
  ],
  [
    { field: 'source_config.build_on_push', code: 'tag-on-push', ref, isRequested: false },
    'it is on, and refs/tags/v1 is a tag: tags are not built on push',
    'Set build-on-push to false, or repo-ref to a branch.',
  ],
  [
    { field: tarball, code: 'awaits-folder', revisionId: 'r1', isForbidden: true },
    'revision r1 waits for a folder to be uploaded',
    'Set rebuild to auto.',
  ],
  [
    { field: tarball, code: 'awaits-folder', revisionId: 'r1', isForbidden: false },
    'revision r1 waits for a folder to be uploaded',
    'Give source-dir.',
  ],
  [
    { field: 'rebuild', code: 'nothing-live', ended: undefined },
    'nothing is live, and rebuild: never forbids to build again',
    'Set rebuild to auto.',
  ],
  [
    { field: 'rebuild', code: 'nothing-live', ended: failed },
    'nothing is live (revision r2 ended DEPLOY_FAILED), and rebuild: never forbids to build again',
    'Set rebuild to auto.',
  ],
  [
    { field: 'source_revision_config.repo_ref', code: 'source-unreported' },
    'a new revision is needed, and the service does not report what the deployment is made from',
    'Give repo-ref.',
  ],
  [
    { field: 'secrets', code: 'secrets-unlisted' },
    'the service does not say which secrets there are, and changing one replaces all of them',
    'Set secrets-strategy to overwrite, and name all secrets that the deployment needs.',
  ],
  [
    { field: 'secrets.A.B', code: 'secret-lost' },
    'the service hides its value, and a change of any secret replaces all of them, so it would be lost',
    'Add A.B to secrets, or set secrets-strategy: overwrite to remove it.',
  ],
  [
    { field: 'source_config.resource_spec.sidecars', code: 'resource-lost' },
    'it holds something that is not known here, and it would be lost, as resource_spec is sent whole',
    'Set sidecars in resource-spec as well.',
  ],
  [
    {
      field: 'source_config.resource_spec.cpu',
      code: 'resources',
      problem: 'is 2 and may not be above cpu_limit (1.5)',
    },
    'is 2 and may not be above cpu_limit (1.5)',
    'Correct it in resource-spec; existing values that were not given are sent along.',
  ],
  [
    { field: 'commit', code: 'other-commit', commit, head: other },
    'aaaaaaa would have to be built, and the service builds the head of the ref, which is bbbbbbb',
    'Set repo-ref to a branch or a tag of this commit, or remove commit.',
  ],
  [
    { field: 'commit', code: 'other-commit', commit, head: undefined },
    'aaaaaaa would have to be built, and it is not known here whether it is the head of the ref',
    'Check out the repository first; a workflow may give github-token instead.',
  ],
])('the obstacle %j in words', (obstacle, problem, advice) =>
  expect(reportedPlan({ kind: 'impossible', obstacles: [obstacle] })).toEqual({
    kind: 'impossible',
    obstacles: [{ field: obstacle.field, problem, advice }],
  }),
);

test.each<[PlanReason, string]>([
  [{ code: 'rebuild-always' }, 'rebuild is always'],
  [{ code: 'rebuild-never' }, 'no field differs, and rebuild is never'],
  [{ code: 'no-revision' }, 'there is no revision yet'],
  [{ code: 'image-same' }, 'nothing differs from what is live'],
  [{ code: 'image-live', image: 'registry.test/agent:1' }, 'image registry.test/agent:1 is live already'],
  [{ code: 'folder-same' }, 'the folder is live as it is'],
  [{ code: 'folder-differs' }, 'the folder differs from what was uploaded last'],
  [{ code: 'nothing-uploaded' }, 'nothing was uploaded yet'],
  [{ code: 'digest-unreported' }, 'this service does not report the digest of what was uploaded last'],
  [
    { code: 'commit-unknown', because: { code: 'folder' } },
    'the requested commit is not known (a folder is not built from a commit here)',
  ],
  [
    { code: 'commit-unknown', because: { code: 'image' } },
    'the requested commit is not known (an image is not built from a commit here)',
  ],
  [
    { code: 'commit-unknown', because: { code: 'ref-unreported' } },
    'the requested commit is not known (the service does not report which repository and ref it builds)',
  ],
  [
    { code: 'commit-unknown', because: { code: 'no-workflow' } },
    'the requested commit is not known (no workflow says which commit it runs on)',
  ],
  [
    { code: 'commit-unknown', because: { code: 'other-workflow', ref: 'feature', repository: 'acme/agent' } },
    'the requested commit is not known (this workflow runs on feature of acme/agent, which is not what is deployed)',
  ],
  [{ code: 'commit-live', commit }, 'commit aaaaaaa is live already'],
  [{ code: 'commit-not-live', commit, live: other }, 'commit aaaaaaa is not live, bbbbbbb is'],
  [{ code: 'commit-not-live', commit, live: undefined }, 'commit aaaaaaa is not live'],
  [{ code: 'live-commit-unreported' }, 'the live revision does not report which commit it was built from'],
  [
    { code: 'commit-unreported', ...building },
    'revision r2 is on its way (BUILDING) and does not report its commit yet',
  ],
  [{ code: 'on-its-way', ...building, commit }, 'revision r2 of commit aaaaaaa is on its way already (BUILDING)'],
  [{ code: 'on-its-way', ...building }, 'nothing differs from revision r2, which is on its way already (BUILDING)'],
  [{ code: 'ended', ...failed }, 'revision r2 ended DEPLOY_FAILED'],
  [{ code: 'ended', ...failed, commit }, 'revision r2 ended DEPLOY_FAILED for commit aaaaaaa'],
  [
    { code: 'ended', ...failed, mayLack: true },
    'revision r2 ended DEPLOY_FAILED, and the live one may lack what it carried',
  ],
  [
    { field: 'rebuild', code: 'nothing-live', ended: undefined },
    'nothing is live, and rebuild: never forbids to build again',
  ],
])('the reason %j in words', (why, text) =>
  expect(reportedPlan({ kind: 'none', deploymentId: 'd1', why, notes: [] })).toEqual({ kind: 'none', why: text }),
);

test.each<[ChangeReason, string]>([
  [{ code: 'created' }, 'the deployment is created with it'],
  [{ code: 'uploaded-later' }, 'it is uploaded once the deployment is created'],
  [{ code: 'differs', patch: 'revision' }, 'it differs, and it makes a revision'],
  [{ code: 'differs', patch: 'in-place' }, 'it differs, and it changes in place'],
  [{ code: 'differs', patch: 'next-revision' }, 'it differs, and it takes effect with the next revision'],
  [{ code: 'differs', patch: 'fixed' }, 'it differs, and it is set for good'],
  [{ code: 'differs', patch: 'read-only' }, 'it differs, and the service sets it'],
  [{ code: 'resource-differs' }, 'it differs, and resource_spec is sent whole'],
  [{ code: 'resource-default' }, 'it was at the default that follows from a field that changes'],
  [{ code: 'secret-missing' }, 'it is not there'],
  [{ code: 'secret-differs' }, 'it differs'],
  [{ code: 'secret-hidden' }, "it can't be compared, because the service hides its value"],
  [{ code: 'secret-dropped' }, 'it is not in the configuration, and secrets-strategy is overwrite'],
  [{ code: 'secrets-unlisted' }, 'the service does not say which secrets there are, so all of them are replaced'],
  [{ code: 'reference-dropped' }, 'it is not in the configuration, and the list is replaced whole'],
  [{ code: 'restated', reason: { code: 'rebuild-always' } }, 'restated so that a revision is made: rebuild is always'],
  [{ code: 'uploaded', reason: { code: 'nothing-uploaded' } }, 'nothing was uploaded yet'],
])('the reason of a change %j in words', (why, text) => {
  const change = { field: 'secrets.A', from: undefined, to: 'set', makesRevision: true };
  const planned = reportedPlan({
    kind: 'patch',
    deploymentId: 'd1',
    request: { secrets: [{ name: 'A', value: 'hush' }] },
    changes: [{ ...change, why }],
    makesRevision: true,
    formerLatestRevisionId: null,
    notes: [],
  });
  expect(planned).toEqual({ kind: 'patch', changes: [{ ...change, why: text }], makesRevision: true });
});

const paths = ['.env', 'a/.env', 'b.pem', 'c.key', 'node_modules/'];
test.each<[PlanNote, string]>([
  [
    { code: 'built-to-be-sure', reason: { code: 'live-commit-unreported' } },
    'the live revision does not report which commit it was built from: the ref is built again to be sure',
  ],
  [
    { code: 'built-to-be-sure', reason: { code: 'digest-unreported' } },
    'this service does not report the digest of what was uploaded last: it is uploaded again to be sure',
  ],
  [
    { code: 'commit-unreported', ...building },
    'revision r2 is on its way (BUILDING) and does not report its commit yet',
  ],
  [{ code: 'newer-waits', revisionId: 'r3', commit }, 'a newer revision (r3) waits behind the one of aaaaaaa'],
  [{ code: 'newest-ended', ...failed }, 'the newest revision r2 ended DEPLOY_FAILED and does not serve'],
  [
    { code: 'newest-takes-over', ...building },
    'revision r2 of another commit is on its way (BUILDING) and will take over',
  ],
  [
    { code: 'image-unpinned', image: 'a:1', why: 'the registry did not answer' },
    'image a:1 can change under the same name, and the registry did not answer: what was pushed since is not recognised; name a digest, or set rebuild to always',
  ],
  [
    { code: 'later-effect', fields: ['source_config.install_command', 'source_config.build_command'] },
    'source_config.install_command, source_config.build_command: changed, and without effect until the next revision',
  ],
  [
    { code: 'field-unreported', field: 'source_config.deployment_type' },
    'source_config.deployment_type could not be compared: the service does not report it',
  ],
  [
    { code: 'resource-unused', field: 'source_config.resource_spec.executor_cpu' },
    'source_config.resource_spec.executor_cpu has no effect: the service marks it as not to be used',
  ],
  [
    { code: 'resource-unknown', field: 'source_config.resource_spec.newer' },
    'source_config.resource_spec.newer is not known here and goes, as it is sent whole',
  ],
  [{ code: 'folder-unseen' }, 'what would be uploaded is not known here: the folder was not looked at'],
  [
    { code: 'variables-left-out', paths: ['.env', 'a/.env'] },
    'the variables in .env, a/.env are not uploaded; give the agent those that it needs as secrets (`secrets`, or --secrets NAME)',
  ],
  [
    { code: 'left-out', paths },
    'left out of the upload by default: .env, a/.env, b.pem, c.key, node_modules/; a line with ! in .landfallignore takes one in',
  ],
  [
    { code: 'left-out', paths: [...paths, 'p/node_modules/', '.git/'] },
    'left out of the upload by default: .env, a/.env, b.pem, c.key, node_modules/ and 2 more; a line with ! in .landfallignore takes one in',
  ],
  [{ code: 'integration-found', name: 'acme', reaches: true }, 'using integration acme: it reaches the repository'],
  [
    { code: 'integration-found', name: 'acme', reaches: false },
    'using integration acme: it is the only one that may reach the repository',
  ],
  [{ code: 'listener-found', name: 'east' }, 'using listener east: it is the only one that fits'],
  [{ code: 'ids-unlisted', of: 'integration' }, 'this service does not list integrations: none is named'],
  [{ code: 'ids-unlisted', of: 'listener' }, 'this service does not list listeners: none is named'],
  [{ code: 'ids-absent', of: 'integration' }, 'this service has no integration: none is named'],
  [{ code: 'ids-absent', of: 'listener' }, 'this service has no listener: none is named'],
  [
    { code: 'repository-unreached', repoUrl: 'https://github.com/acme/agent' },
    'no integration of this service reaches https://github.com/acme/agent: none is named',
  ],
])('the note %j in words', (note, text) => expect(noteText(note)).toBe(text));
