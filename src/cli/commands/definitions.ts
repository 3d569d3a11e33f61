import { finalRunStatuses } from '../../contract/agent/run.ts';
import { threadStatuses } from '../../contract/agent/thread.ts';
import type { ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { defaultLimit, oneOf, readDuration, readFlag, readId, readJson, readLimit } from './option-values.ts';
import type { Invocation } from './service-session.ts';

/** An argument of a command. */
interface CommandArgument {
  name: string;
  description: string;
  isRequired?: boolean;
}

/** An option of a command, besides those of the service. */
interface CommandOption {
  flags: string;
  description: string;
  /** Checks its value. @throws InvalidArgumentError */
  read?: (text: string) => string;
}

/** A command that asks or changes a service: its help, its completion and its row in docs/cli.md are made from this. */
export interface CommandDefinition {
  /** Its words: `list`, `secrets set`. */
  name: string;
  summary: string;
  args?: readonly CommandArgument[];
  options?: readonly CommandOption[];
  /** Whether it needs no service: it has none of the options of one. */
  isLocal?: boolean;
  /** Inputs that named the deployment before it was an argument, and still do. */
  former?: readonly ('name' | 'deployment' | 'deployment-id')[];
  /** The fields of its JSON, for docs/cli.md. */
  json: string;
  run: (invocation: Invocation, terminal: Terminal) => Promise<ExitCode>;
}

/** The deployment of a command. */
const deployment: CommandArgument = {
  name: 'name',
  description: 'The deployment, by its name or id. (default: the only one of the deploy file, else of the service)',
};

const limit: CommandOption = {
  flags: '--limit <n>',
  description: `How many at most. (default: ${defaultLimit})`,
  read: readLimit,
};

/** The JSON of a command that makes a revision. */
const changed = '`deployment_id`, `revision_id`, `status`, `message`, `passes`';

const wait: CommandOption = {
  flags: '--wait [true|false]',
  description: 'Wait until the new revision is live. (default: true)',
  read: readFlag,
};

const ofRevision = (description: string): CommandOption => ({ flags: '--revision <id>', description, read: readId });

const loginName = (description: string): CommandOption => ({ flags: '--service <name>', description });

const secret: CommandArgument = { name: 'secret', description: 'The name of the variable.', isRequired: true };

/** What the commands with words of their own are about. */
export const groups: ReadonlyMap<string, string> = new Map([
  ['secrets', 'List, set and remove the secrets of a deployment. Values are never shown.'],
  ['services', 'List the services that you logged in to, and choose the current one.'],
]);

/** The commands, in the order of the help. */
export const definitions: readonly CommandDefinition[] = [
  {
    name: 'list',
    summary: 'List the deployments: state, live commit, last verdict, last change, address.',
    json: '`deployments`',
    run: async (...given) => (await import('./list.ts')).listDeployments(...given),
  },
  {
    name: 'status',
    summary: 'Show one deployment: what serves, what is in progress or held, and the last events.',
    args: [deployment],
    json: '`deployment`, `live`, `in_progress`, `failed`, `events`',
    run: async (...given) => (await import('./status.ts')).showStatus(...given),
  },
  {
    name: 'revisions',
    summary: 'List the newest revisions of a deployment: state, commit, cause, verdict.',
    args: [deployment],
    options: [limit],
    json: '`revisions`',
    run: async (...given) => (await import('./revisions.ts')).listRevisions(...given),
  },
  {
    name: 'logs',
    summary: 'Print the log of the live agent, or of a build.',
    args: [deployment],
    options: [
      { flags: '-f, --follow', description: 'Go on with what is added, until Ctrl-C or the end of the build.' },
      { flags: '--build', description: 'The build of the latest revision. (default where no revision serves)' },
      { flags: '--agent', description: 'The agent of the live revision. (default)' },
      {
        flags: '--since <time>',
        description: 'All lines of the last 30s, 10m, 2h or 7d. (default: the last 100 lines)',
        read: readDuration,
      },
      ofRevision('The log of this revision.'),
    ],
    json: '`deployment`, `revision_id`, `log`, `logs`; with `--follow` one document a line',
    run: async (...given) => (await import('./logs.ts')).printLogs(...given),
  },
  {
    name: 'open',
    summary: "Open the console's page of a deployment in the browser, and print its address.",
    args: [deployment],
    json: '`url`, `opened`',
    run: async (...given) => (await import('./open.ts')).openConsole(...given),
  },
  {
    name: 'ask',
    summary: 'Ask the agent one question, and stream its answer.',
    args: [deployment, { name: 'question', description: 'The question, in quotes; not beside --input.' }],
    options: [
      { flags: '--thread <id>', description: 'Go on with this thread. (default: a new one)', read: readId },
      { flags: '--assistant <name>', description: 'The assistant or graph. (default: the only graph)' },
      { flags: '--input <json>', description: 'The whole input of the graph, instead of a question.', read: readJson },
    ],
    json: '`thread_id`, `run_id`, `text`, `waits_for`, `error`, `values`',
    run: async (...given) => (await import('./ask.ts')).ask(...given),
  },
  {
    name: 'runs',
    summary: 'List the finished runs of a deployment: status, time, tokens, output.',
    args: [deployment],
    options: [
      limit,
      {
        flags: '--status <status>',
        description: `Those that ended so: ${finalRunStatuses.join(', ')}.`,
        read: oneOf(finalRunStatuses),
      },
      { flags: '--thread <id>', description: 'Those on this thread.', read: readId },
    ],
    json: '`runs`',
    run: async (...given) => (await import('./runs.ts')).listRuns(...given),
  },
  {
    name: 'threads',
    summary: 'List the threads of the agent, the one that changed last first.',
    args: [deployment],
    options: [
      limit,
      {
        flags: '--status <status>',
        description: `Those in this state: ${threadStatuses.join(', ')}.`,
        read: oneOf(threadStatuses),
      },
    ],
    json: '`threads`',
    run: async (...given) => (await import('./threads.ts')).listThreads(...given),
  },
  {
    name: 'redeploy',
    summary: 'Deploy the build of the live revision again, with the secrets that it had.',
    args: [deployment],
    options: [ofRevision('The revision whose build it is. (default: the live one)'), wait],
    json: changed,
    run: async (...given) => (await import('./redeploy.ts')).redeploy(...given),
  },
  {
    name: 'promote',
    summary: 'Send traffic to the held revision.',
    args: [deployment],
    options: [ofRevision('The revision. (default: the one that has been held for longest)')],
    json: '`outcome`, `passes`, `deployment_id`, `revision_id`',
    run: async (...given) => (await import('./decide.ts')).decideHeld('promoted', ...given),
  },
  {
    name: 'discard',
    summary: 'End the revision that is held before traffic, so that newer ones that wait for it go on.',
    args: [deployment],
    former: ['name', 'deployment', 'deployment-id'],
    options: [ofRevision('The revision. (default: the one that has been held for longest)')],
    json: '`outcome`, `passes`, `deployment_id`, `revision_id`',
    run: async (...given) => (await import('./decide.ts')).decideHeld('discarded', ...given),
  },
  {
    name: 'secrets list',
    summary: 'List the names of the secrets of a deployment.',
    args: [deployment],
    json: '`secrets`',
    run: async (...given) => (await import('./secrets.ts')).listSecrets(...given),
  },
  {
    name: 'secrets set',
    summary: 'Set a secret to the value from standard input or a prompt, which makes a revision.',
    args: [secret, deployment],
    options: [wait],
    json: changed,
    run: async (...given) => (await import('./secrets.ts')).setSecret(...given),
  },
  {
    name: 'secrets rm',
    summary: 'Remove a secret, which makes a revision.',
    args: [secret, deployment],
    options: [wait],
    json: changed,
    run: async (...given) => (await import('./secrets.ts')).removeSecret(...given),
  },
  {
    name: 'login',
    summary: 'Check a key from standard input or a prompt at a service, and store both for the other commands.',
    args: [{ name: 'url', description: 'The address of the control service.', isRequired: true }],
    options: [
      loginName('What to call the service. (default: its host; local for one on this machine)'),
      { flags: '--tenant-id <id>', description: 'Workspace uuid, for keys of an organisation.' },
      { flags: '--allow-http', description: 'Send the key over plain http to a host that is not this machine.' },
    ],
    isLocal: true,
    json: '`service`, `url`, `file`',
    run: async (...given) => (await import('./login.ts')).login(...given),
  },
  {
    name: 'logout',
    summary: 'Delete the stored login of a service.',
    options: [loginName('The service. (default: the current one)')],
    isLocal: true,
    json: '`service`, `current`',
    run: async (...given) => (await import('./login.ts')).logout(...given),
  },
  {
    name: 'services list',
    summary: 'List the services that you logged in to.',
    isLocal: true,
    json: '`services`',
    run: async (...given) => (await import('./login.ts')).listLogins(...given),
  },
  {
    name: 'services use',
    summary: 'Make a service the default of commands without --service.',
    args: [{ name: 'service', description: 'The name of the service.', isRequired: true }],
    isLocal: true,
    json: '`current`',
    run: async (...given) => (await import('./login.ts')).chooseService(...given),
  },
];
