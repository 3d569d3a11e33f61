import { Option, type Command } from 'commander';
import { inputNames } from '../action/input-names.ts';
import type { Inputs } from '../config/entry-options.ts';
import { readInputTexts } from './input-texts.ts';

/** What only a workflow has: what it writes on GitHub. The mode is said by the subcommand. */
const ofWorkflows: ReadonlySet<string> = new Set([
  'mode',
  'github-token',
  'comment',
  'github-deployment',
  'environment',
]);

/** The inputs that are options. */
export const optionNames = inputNames.filter((name) => !ofWorkflows.has(name));

/** Inputs that belong to a person or a machine rather than to one deployment: these may come from the environment. */
const environment: ReadonlySet<string> = new Set([
  'api-key',
  'base-url',
  'tenant-id',
  'field-names',
  'allow-http',
  'config',
  'deployment',
]);
const service: ReadonlySet<string> = new Set(['api-key', 'base-url', 'tenant-id', 'field-names', 'allow-http']);
/** All others are fields of a deployment. */
const deployFlags: ReadonlySet<string> = new Set([
  'config',
  'deployment',
  'agent-url',
  'wait',
  'timeout-minutes',
  'poll-seconds',
  'on-superseded',
  'dry-run',
  'keep-tracing-project',
]);
const flags: ReadonlySet<string> = new Set(['allow-http', 'build-on-push', 'wait', 'dry-run', 'keep-tracing-project']);

/** The variable that an option is taken from where it is not given; undefined for one that has none. */
export const variableOf = (input: string): string | undefined =>
  environment.has(input) ? `LANDFALL_${input.toUpperCase().replaceAll('-', '_')}` : undefined;

/** What the help says in the place of action.yml, where a terminal is another place than a workflow. */
export const onTerminal: Readonly<Record<string, string>> = {
  'api-key':
    'Key of the control service, sent as X-Api-Key. Set LANDFALL_API_KEY instead: a command line shows in the list of processes.',
  config: 'Path of the deploy file. Options given beside it win over the file.',
  secrets:
    'Name of an environment variable that becomes a secret of the deployment; give the option once for each. NAME=OTHER takes the value of OTHER.',
};

/** Adds every input of the Action as an option of its name. */
export function addInputOptions(command: Command): void {
  for (const name of optionNames) command.addOption(optionOf(name));
}

function optionOf(name: string): Option {
  const option = flags.has(name)
    ? new Option(`--${name} [true|false]`).preset('true')
    : new Option(`--${name} <${name.split('-').at(-1)}>`);
  const variable = variableOf(name);
  if (variable) option.env(variable);
  if (name === 'secrets') option.argParser((value, before?: string) => (before ? `${before}\n${value}` : value));
  return option.helpGroup(groupOf(name));
}

/** The headings of the help, by what they stand over. */
export const groups = {
  service: 'The control service:',
  deployFlags: 'How to go about it:',
  deployment: 'What should run (wins over the deploy file):',
} as const;

function groupOf(name: string): string {
  if (service.has(name)) return groups.service;
  return deployFlags.has(name) ? groups.deployFlags : groups.deployment;
}

/** What was given on the command line or in the environment, as the Action's inputs. */
export function givenInputs(command: Command): Inputs {
  return Object.fromEntries(
    command.options.flatMap((option) => {
      const value: unknown = command.getOptionValue(option.attributeName());
      const name = option.long?.slice('--'.length);
      return name && typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** Describes an option in help; those that are inputs in the words of action.yml. */
export function describeOptions(): (option: Option) => string {
  let read: ReturnType<typeof readInputTexts> | undefined;
  return (option) => {
    const name = option.long?.slice('--'.length) ?? '';
    if (!optionNames.some((each) => each === name)) return option.description;
    const text = (read ??= readInputTexts())(name);
    const variable = variableOf(name);
    return [
      onTerminal[name] ?? text.description,
      ...(text.default === undefined ? [] : [`(default: ${text.default})`]),
      ...(variable === undefined ? [] : [`(env: ${variable})`]),
    ].join(' ');
  };
}
