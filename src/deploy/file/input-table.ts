import { fieldNameSettings } from '../../contract/control/aliases.ts';
import type { DeploymentField } from '../../contract/control/deployment-field.ts';
import { runFields, testFields } from '../../contract/control/field-table.ts';

/** What was given for each input; one that is absent or empty was not given. */
export type Inputs = Readonly<Record<string, string | undefined>>;

/** One input of the Action, which is an option of the command line too. */
export interface Input {
  /** Under which heading the help of the command line lists it. What only a workflow has is no option. */
  group: 'service' | 'run' | 'deployment' | 'workflow';
  /** An option of a flag needs no value, and one of lines may be given several times. */
  kind: 'flag' | 'word' | 'number' | 'lines' | 'text';
  description: string;
  /** Description of its option, where a terminal needs other words. */
  option?: string;
  required?: true;
  default?: string;
  /** Belongs to a person or a machine rather than to one deployment, so its option may come from the environment. */
  variable?: true;
}

/** An input that is no field of a deployment. */
type OptionInput = Input &
  (
    | { kind: 'flag'; default: 'true' | 'false' }
    | { kind: 'word'; words: readonly string[]; default: string }
    | { kind: 'number'; least: number; most: number; default: string }
    | { kind: 'text' }
  );

const beforeFields = {
  'api-key': {
    group: 'service',
    kind: 'text',
    variable: true,
    description:
      'Key of the control service, sent as X-Api-Key. Take it from a repository or environment secret. Without it the step uses the token of its run (`permissions: id-token: write`), and ends neutral on a fork.',
    option:
      'Key of the control service, sent as X-Api-Key. Set LANDFALL_API_KEY instead: a command line shows in the list of processes.',
  },
  'base-url': {
    group: 'service',
    kind: 'text',
    variable: true,
    description: 'Address of the control service, a path prefix included, for example https://host/api-host.',
    required: true,
  },
  'tenant-id': {
    group: 'service',
    kind: 'text',
    variable: true,
    description:
      'Workspace uuid, sent as X-Tenant-Id. Keys of an organisation need it, and runs without a key where the service has several workspaces.',
  },
  'field-names': {
    group: 'service',
    kind: 'word',
    words: fieldNameSettings,
    variable: true,
    description:
      'Spelling of the fields that differ between services. contract: graph_config_path (Landfall). public: langgraph_config_path (LangSmith). auto learns it from the service. Both are read.',
    default: 'auto',
  },
  'allow-http': {
    group: 'service',
    kind: 'flag',
    variable: true,
    description: 'Send the key over plain http to a host that is not this machine (true or false).',
    default: 'false',
  },
  mode: {
    group: 'workflow',
    kind: 'word',
    words: ['deploy', 'plan', 'smoke', 'rollback', 'delete', 'preview', 'command'],
    description:
      'deploy, plan (say what would be done, write nothing), smoke (only run the smoke tests), rollback (back to the revision that was live before), delete (remove the deployment and wait until it is gone), preview (create, update or remove the preview of the pull request), or command (carry out the command of a comment on a pull request, docs/commands.md).',
    default: 'deploy',
  },
  'dry-run': {
    group: 'run',
    kind: 'flag',
    description:
      'Write nothing (true or false). With mode delete, only report which deployment would be deleted; mode deploy becomes plan.',
    option: 'Write nothing, and report what would be done (true or false).',
    default: 'false',
  },
  config: {
    group: 'run',
    kind: 'text',
    variable: true,
    description: 'Path of the deploy file, from the workspace. Inputs given beside it win over the file.',
    default: '.github/landfall.yml',
    option: 'Path of the deploy file. Options given beside it win over the file.',
  },
  deployment: {
    group: 'run',
    kind: 'text',
    variable: true,
    description: 'Name of the one deployment of the file to work on. Needed where the file holds more than one.',
  },
} as const satisfies Record<string, OptionInput>;

const beforeTests = {
  'agent-url': {
    group: 'run',
    kind: 'text',
    description: 'Address of the agent server, if the service returns none.',
  },
  'grader-keys': {
    group: 'run',
    kind: 'text',
    variable: true,
    description:
      'Names of environment variables that hold keys of graders, besides those that end in _API_KEY; separated by spaces or lines.',
  },
  wait: {
    group: 'run',
    kind: 'flag',
    description: 'Wait until the revision is live (true or false). With false the outcome is started.',
    default: 'true',
  },
  'timeout-minutes': {
    group: 'run',
    kind: 'number',
    least: 0.05,
    most: 24 * 60,
    description: 'How long to wait for the revision, in minutes.',
    default: '30',
  },
  'poll-seconds': {
    group: 'run',
    kind: 'number',
    least: 0.1,
    most: 600,
    description: 'Polling interval of the revision, in seconds, with 10 % jitter.',
    default: '5',
  },
} as const satisfies Record<string, OptionInput>;

const last = {
  journal: {
    group: 'run',
    kind: 'text',
    description:
      'File that keeps how far a deploy or a rollback is. A later run of the same that finds it there goes on where that one was ended, for example a rerun of a cancelled job (restore the file with actions/cache).',
    option:
      'File that keeps how far a deploy or a rollback is. A later run of the same that finds it there goes on with it.',
  },
  'plan-file': {
    group: 'run',
    kind: 'text',
    description:
      'The file that plan writes its plan to, and that deploy applies: it is refused if the file, the commit or the deployment changed since (docs/plans.md).',
    option:
      'Of plan: the file that the plan is written to. Of deploy: the plan to apply, which is refused if the file, the commit or the deployment changed since (docs/plans.md).',
  },
  receipt: {
    group: 'run',
    kind: 'text',
    description:
      'File for the receipt of a deploy, a rollback or a deletion, by default one below RUNNER_TEMP (docs/receipts.md).',
    option: 'File for the receipt of a deploy, a rollback or a deletion (docs/receipts.md).',
  },
  'ignore-freeze': {
    group: 'run',
    kind: 'flag',
    description:
      'Deploy although a freeze window of the environment says not to (true or false). Without it the outcome is frozen, and nothing is sent.',
    default: 'false',
  },
  'on-superseded': {
    group: 'run',
    kind: 'word',
    words: ['fail', 'pass'],
    description: 'Whether the step fails or passes when a newer revision took the place of this one.',
    option: 'Whether a newer revision in the place of this one is a failure (fail or pass).',
    default: 'fail',
  },
  'keep-tracing-project': {
    group: 'run',
    kind: 'flag',
    description:
      'With mode delete, leave the tracing project (true or false). While it exists, no deployment can be created under the same name.',
    option:
      'Leave the tracing project (true or false). While it exists, no deployment can be created under the same name.',
    default: 'false',
  },
  'github-token': {
    group: 'workflow',
    kind: 'text',
    description:
      'Token for the comment and the GitHub Deployment, for example github.token. Without it neither is written.',
  },
  comment: {
    group: 'workflow',
    kind: 'flag',
    description:
      'Keep one comment on the pull request, edited at every run (true or false). Needs github-token with pull-requests write.',
    default: 'true',
  },
  'github-deployment': {
    group: 'workflow',
    kind: 'flag',
    description:
      'Create a GitHub Deployment with statuses and the address of the agent (true or false). Needs github-token with deployments write.',
    default: 'false',
  },
  environment: {
    group: 'workflow',
    kind: 'text',
    description:
      'Environment of the GitHub Deployment. Named as the deployment when absent; a pull request needs one of its own.',
  },
  commit: {
    group: 'workflow',
    kind: 'text',
    description:
      'Full SHA of the commit to deploy and report on; by default that of the event. With source github a service that does not take a commit builds the head of the ref, and the step is refused where that is another one.',
  },
  'approved-commit': {
    group: 'workflow',
    kind: 'text',
    description:
      'With mode preview, full SHA of the commit of a fork that a person approved: nothing of a fork is built or run but this commit.',
  },
  'pull-request': {
    group: 'workflow',
    kind: 'text',
    description:
      'Number of the pull request that the run is about, where its event does not say so (workflow_dispatch, a fork under workflow_run).',
  },
} as const satisfies Record<string, OptionInput>;

/** Everything but the fields of a deployment, by name. */
export const optionInputs = { ...beforeFields, ...beforeTests, ...last };

/** Sources of deployments: a field that all have needs no word about it. */
const deployableSources = 4;

const ofFields = (fields: readonly DeploymentField[]): [string, Input][] =>
  fields.flatMap(({ name, appliesTo, reads, input, option }): [string, Input][] => {
    if (input === undefined) return [];
    const description =
      appliesTo && appliesTo.length < deployableSources ? `(${appliesTo.join(', ')}) ${input}` : input;
    const kind = reads === 'flag' || reads === 'lines' ? reads : 'text';
    return [[name, { group: 'deployment', kind, description, ...(option === undefined ? {} : { option }) }]];
  });

/** Every input by its name, in the order of action.yml. */
export const inputs: ReadonlyMap<string, Input> = new Map<string, Input>([
  ...Object.entries(beforeFields),
  ...ofFields(runFields),
  ...Object.entries(beforeTests),
  ...ofFields(testFields),
  ...Object.entries(last),
]);
