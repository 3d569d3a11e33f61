/** The arguments that commands take. A word is taken for the first argument whose form it has. */
export const commandArguments = {
  times: { form: /^(?:[1-9]|1\d|20)$/, example: '3', what: 'a number from 1 to 20' },
  commit: { form: /^[0-9a-f]{7,64}$/i, example: '1a2b3c4', what: 'a commit, at least its first seven digits' },
  'ignore-freeze': { form: /^ignore-freeze$/, example: 'ignore-freeze', what: 'that a freeze does not count' },
  deployment: { form: /^\S{1,200}$/, example: 'support', what: 'the name of a deployment' },
} as const;

export type ArgumentName = keyof typeof commandArguments;

/** What a command is, for the parser, the decision, `/help` and the documentation. */
interface CommandDefinition {
  /** All of them may be left out. */
  takes: readonly ArgumentName[];
  /** On which pull requests it may be given: `kept` ones are open or were merged. */
  on: 'any' | 'open' | 'kept';
  /** It acts on a deployment: on one of production only for the `admins` of the deploy file, where that names any. */
  acts: boolean;
  /** One sentence without a full stop. */
  does: string;
  /** What it does by a workflow alone, where that is something else; null: nothing. */
  byWorkflow?: string | null;
}

const definitions = {
  deploy: {
    takes: ['deployment', 'commit', 'ignore-freeze'],
    on: 'kept',
    acts: true,
    does: 'Builds the head of the branch of a deployment again, and resumes pushes that a rollback holds',
    byWorkflow: 'Deploys the head of the branch of a deployment, as mode: deploy does',
  },
  rollback: {
    takes: ['deployment'],
    on: 'kept',
    acts: true,
    does: 'Restores the revision that was live before',
  },
  promote: {
    takes: ['deployment', 'ignore-freeze'],
    on: 'kept',
    acts: true,
    does: 'Deploys what the environment before serves and has proven; or gives the traffic to a revision that is held before traffic, without waiting for its tests; or approves what waits for a reviewer',
    byWorkflow:
      'Gives the traffic to a revision that is held before traffic; else deploys what the environment before has proven',
  },
  test: {
    takes: ['deployment', 'times'],
    on: 'kept',
    acts: true,
    does: 'Runs the smoke tests against the live revision, up to 20 times',
  },
  cancel: {
    takes: ['deployment'],
    on: 'kept',
    acts: true,
    does: 'Ends what was not sent to the service yet',
    byWorkflow: null,
  },
  preview: {
    takes: ['commit'],
    on: 'open',
    acts: false,
    does: 'Makes the preview of the pull request; one from a fork needs the commit in full',
  },
  plan: {
    takes: [],
    on: 'open',
    acts: false,
    does: 'Says what merging would change',
    byWorkflow: 'Says what the deploy file of the pull request would change',
  },
  status: {
    takes: ['deployment'],
    on: 'any',
    acts: false,
    does: 'Says what is live, on its way, waiting, held, frozen or paused',
    byWorkflow: 'Says what is live, on its way or held',
  },
  help: {
    takes: [],
    on: 'any',
    acts: false,
    does: 'Lists the commands',
  },
} as const satisfies Record<string, CommandDefinition>;

export type CommandName = keyof typeof definitions;

/** The commands, in the order of the documentation. */
export const commands: Readonly<Record<CommandName, CommandDefinition>> = definitions;

/** A command as it was given. */
export interface Command {
  name: CommandName;
  deployment?: string;
  commit?: string;
  times?: number;
  ignoresFreeze?: true;
}

/** How a command is written, for example `/deploy [deployment] [commit]`. */
export const usageOf = (name: CommandName): string =>
  [`/${name}`, ...commands[name].takes.map((each) => `[${each}]`)].join(' ');

/** Every name, in order. */
export const commandNames: readonly CommandName[] = namesOf(commands);

function namesOf<Name extends string>(record: Readonly<Record<Name, unknown>>): Name[] {
  const names: Name[] = [];
  for (const name in record) names.push(name);
  return names;
}
