import type { DeploymentField } from './deployment-field.ts';

const built = ['github', 'internal_source'] as const;

/**
 * What should run, in the order of action.yml. The rules are those of docs/design/contract.md#deployment-settings and
 * #revision-settings; `repo_url`, `repo_ref` and `image_uri` are required because nothing could be built without them.
 */
export const runFields: readonly DeploymentField[] = [
  {
    name: 'name',
    api: { path: 'name', patch: 'fixed', required: true },
    input: 'Name of the deployment. Set on create, fixed from then on.',
    file: 'Name of the deployment; its key in the file by default. Fixed once created.',
  },
  {
    name: 'deployment-id',
    input: 'Id of an existing deployment. It is never created when this is given.',
    file: 'Uuid of a deployment that exists: it is found by this instead of its name.',
  },
  {
    name: 'source',
    api: { path: 'source', patch: 'fixed', required: true },
    input:
      "github (built from a repository), internal_source (built from a folder that is uploaded), external_docker (runs an image), or internal_docker (runs an image in the service's own registry). Optional if the other fields imply it.",
    file: 'What it is built from; by default derived from the other fields.',
  },
  {
    name: 'integration-id',
    appliesTo: ['github'],
    api: { path: 'source_config.integration_id', patch: 'fixed' },
    input: 'Id of the GitHub integration; by default the one that reaches the repository.',
    file: 'Uuid of the GitHub integration. Found where there is one choice.',
  },
  {
    name: 'repo-url',
    appliesTo: ['github'],
    api: { path: 'source_config.repo_url', patch: 'fixed', required: true },
    input: 'Address of the repository. Fixed once created.',
    file: 'Address of the repository, without a user or a password. Fixed once created.',
  },
  {
    name: 'repo-ref',
    appliesTo: ['github'],
    api: { path: 'source_revision_config.repo_ref', patch: 'revision', required: true },
    input: 'Branch as its plain name, or tag as refs/tags/NAME.',
    file: 'A branch as its plain name, or a tag as `refs/tags/NAME`.',
    page: 'A branch as its plain name, or a tag as `refs/tags/NAME`. `refs/heads/NAME` is normalized.',
  },
  {
    name: 'source-dir',
    appliesTo: ['internal_source'],
    input:
      'Folder to upload, from the workspace. Excluded: what its .gitignore files and its .landfallignore name, .git, node_modules, and files such as .env.',
    file: 'Folder that is uploaded and built, from the working directory.',
    page: 'Folder that is uploaded and built, from the working directory; see [Folders](#folders).',
  },
  {
    name: 'graph-config-path',
    appliesTo: built,
    api: { path: 'source_revision_config.graph_config_path', patch: 'revision', required: true },
    input: 'Path of the graph configuration file in the repository or in source-dir.',
    file: 'Path of the graph configuration file, from the root of the repository or of the uploaded folder.',
  },
  {
    name: 'deployment-type',
    appliesTo: built,
    api: {
      path: 'source_config.deployment_type',
      patch: 'fixed',
      alsoTakenFor: ['internal_docker'],
    },
    input: 'dev_free, dev or prod. Fixed once created.',
    file: 'Fixed once created.',
  },
  {
    name: 'build-on-push',
    appliesTo: ['github'],
    api: { path: 'source_config.build_on_push', patch: 'in-place' },
    reads: 'flag',
    input: 'Whether the service builds every push to repo-ref (true or false). Not with a tag.',
    file: 'Whether a push to `repo-ref` makes a revision; not `true` with a tag.',
  },
  {
    name: 'image-uri',
    appliesTo: ['external_docker', 'internal_docker'],
    api: { path: 'source_revision_config.image_uri', patch: 'revision', required: ['external_docker'] },
    input: "Container image. For internal_docker it has been pushed to the service's registry already.",
    file: 'The image to run.',
  },
  {
    name: 'install-command',
    appliesTo: built,
    api: { path: 'source_config.install_command', patch: 'next-revision' },
    input: 'Install command, run from the root of what is built; by default the lock file decides.',
    file: 'Commands joined by `&&` only. Put pipes, redirects or variables in a script.',
  },
  {
    name: 'build-command',
    appliesTo: built,
    api: { path: 'source_config.build_command', patch: 'next-revision' },
    input: 'Build command, run in the folder of the graph configuration file.',
    file: 'Commands joined by `&&` only. Put pipes, redirects or variables in a script.',
  },
  {
    name: 'custom-url',
    appliesTo: ['external_docker'],
    api: { path: 'source_config.custom_url', patch: 'in-place' },
    input: 'Address under which the deployment answers.',
    file: 'Address under which the deployment answers.',
  },
  {
    name: 'listener-id',
    appliesTo: ['external_docker'],
    api: { path: 'source_config.listener_id', patch: 'fixed' },
    input: 'Id of the listener that runs it. Found when the service has exactly one.',
    file: 'Uuid of the listener. Found where there is one choice.',
  },
  {
    name: 'k8s-namespace',
    appliesTo: ['external_docker'],
    api: { path: 'source_config.listener_config.k8s_namespace', patch: 'fixed' },
    input: 'Namespace for a k8s listener. Fixed once created.',
    file: 'Namespace of the cluster, for a deployment with a listener. Fixed once created.',
  },
  {
    name: 'resource-spec',
    appliesTo: ['external_docker'],
    api: { path: 'source_config.resource_spec', patch: 'revision' },
    reads: 'yaml',
    input: 'YAML or JSON of the resources; fields that are absent keep their values.',
    file: 'What each replica gets: CPU in cores, memory in MB, storage in GiB. Absent fields keep their values.',
    page: 'What each replica gets; fields that are absent keep their values. The fields of ResourceSpec with hyphens or with underscores (`min-scale`, `min_scale`); fields of Kubernetes keep its spelling (`mountPath`).',
  },
  {
    name: 'secrets',
    api: { path: 'secrets', patch: 'revision', required: true },
    reads: 'lines',
    input:
      'Names of environment variables that become secrets of the deployment, one a line. NAME=OTHER takes the value of OTHER.',
    option:
      'Name of an environment variable that becomes a secret of the deployment; give the option once for each. NAME=OTHER takes the value of OTHER.',
    file: 'Environment variables whose values become secrets: `NAME`, or `NAME=OTHER` to take the value of OTHER. Never a value.',
    page: 'Environment variables whose values become secrets: `NAME`, or `NAME=OTHER` to take the value of OTHER. Never a value. A variable that is unset or empty is an error.',
  },
  {
    name: 'secrets-strategy',
    input: 'merge (the default) keeps secrets that are not named here, overwrite removes them.',
    file: '`merge` keeps secrets that are not named here, `overwrite` removes them.',
  },
  {
    name: 'secret-references',
    appliesTo: ['external_docker'],
    api: { path: 'secret_references', patch: 'next-revision' },
    reads: 'yaml',
    input: 'YAML or JSON list of name, secret-name and secret-key.',
    file: 'Secrets of the cluster, in the namespace of the deployment.',
    page: 'Secrets of the cluster, in the namespace of the deployment: each `name`, `secret-name` and `secret-key`.',
  },
  {
    name: 'rebuild',
    appliesTo: ['github', 'internal_source', 'external_docker', 'internal_docker'],
    input:
      'auto (the default) makes a revision unless this commit, folder or image is live or on its way, always makes one, never makes one only when a field differs. A tag of an image is looked up at its registry.',
    file: 'Whether to deploy a commit, a folder or an image although no field differs.',
  },
  {
    name: 'source-tarball-path',
    appliesTo: ['internal_source'],
    api: { path: 'source_revision_config.source_tarball_path', patch: 'revision' },
  },
  {
    name: 'repo-commit-sha',
    appliesTo: ['github'],
    api: { path: 'source_revision_config.repo_commit_sha', patch: 'read-only' },
  },
];

/** Smoke tests, and what follows from them. */
export const testFields: readonly DeploymentField[] = [
  {
    name: 'smoke-tests',
    reads: 'yaml',
    input: 'YAML or JSON list of smoke tests, in the form of the deploy file.',
    file: 'Smoke tests of the new revision: what to ask it, and what its answers must be.',
    page: 'Questions for the new revision, and what its answers must be; see [Smoke tests](#smoke-tests).',
  },
  {
    name: 'conversations',
    reads: 'yaml',
    input:
      'How many of the newest conversations of the live revision are tried on the new one, on copies: a number, or a map in the form of the deploy file.',
    file: 'How many of the newest conversations are tried on the new revision, on copies: a number, or a map.',
    page: 'How many of the newest conversations are tried on the new revision, on copies; see [Conversations that go on](#conversations-that-go-on).',
  },
  {
    name: 'verify',
    input:
      'When the smoke tests run. before-traffic (the default where the service can hold a revision) tests the new revision at an address of its own, and discards one that fails; after-traffic tests it once it is live.',
    file: 'When the smoke tests run: before the new revision gets traffic, or once it is live.',
    page: 'When the smoke tests run: before the new revision gets traffic, or once it is live; see [Before traffic](#before-traffic).',
  },
  {
    name: 'on-failure',
    input:
      'What to do when the live revision fails its smoke tests. rollback goes back to the revision before, keep (the default) leaves it.',
    file: 'What to do with a live revision that fails its smoke tests.',
  },
  {
    name: 'on-unproven',
    input:
      'What to do with a revision that is tested before traffic where its tests prove nothing and another revision serves. keep (the default) discards it and keeps the live one, promote gives it the traffic unless it gave no answer.',
    file: 'What to do with a held revision whose tests prove nothing: keep the live one, or promote it.',
  },
];

/** Prices of models and previews of pull requests, only in the deploy file. */
const fileFields: readonly DeploymentField[] = [
  {
    name: 'prices',
    file: 'What a million tokens cost, for the cost of an answer in tests against the live revision.',
    page: 'What a million tokens cost, for the cost of an answer in tests against the live revision; see [Prices](#prices).',
  },
  {
    name: 'preview',
    file: 'Pull requests get a deployment of their own: `true`, or a map of what it is and how long it stays.',
    page: 'Pull requests get a deployment of their own: `true`, or a map; see [previews](previews.md).',
  },
];

/** The App's rules for pushes, only in the deploy file. */
const pushFields: readonly DeploymentField[] = [
  {
    name: 'paths',
    appliesTo: ['github'],
    file: 'For the App: a push deploys only where it changes one of these paths.',
    page: 'For the App: a push deploys only where it changes one of these paths; see [Pushes](#pushes).',
  },
  {
    name: 'skip-words',
    appliesTo: ['github'],
    file: "For the App: a push whose newest commit's message has one of these is not deployed.",
  },
  {
    name: 'after-rollback',
    appliesTo: ['github'],
    file: 'For the App: what pushes do after a rollback. `hold` makes them wait until a person presses Redeploy.',
  },
  {
    name: 'deploy-after',
    appliesTo: ['github'],
    file: 'For the App: a push is deployed once these checks of its commit have passed; `checks`: those that the branch requires.',
    page: 'For the App: a push is deployed once these checks of its commit have passed; see [After checks](#after-checks).',
  },
  {
    name: 'environment',
    file: "Environment under which GitHub shows the deployment; the deployment's name where none is given.",
  },
  {
    name: 'admins',
    appliesTo: ['github'],
    file: 'For the App: the logins of those who may act on the deployment by comments and buttons, where its environment is production.',
  },
];

export const deploymentFields: readonly DeploymentField[] = [...runFields, ...testFields, ...fileFields, ...pushFields];
