import type { ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { defaultLimit, readDuration, readId, readLimit } from './option-values.ts';
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
    summary: 'Show one deployment: what serves, what is on its way or held, and the last events.',
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
      { flags: '--revision <id>', description: 'The log of this revision.', read: readId },
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
];
