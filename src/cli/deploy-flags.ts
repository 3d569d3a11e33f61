import { Option, type Command } from 'commander';
import { inputs, type Input, type Inputs } from '../deploy/file/input-table.ts';

/** The headings of the help by group. Inputs that only make sense in a workflow are not options. */
export const helpHeadings = {
  service: 'The control service:',
  run: 'How to go about it:',
  deployment: 'What should run (wins over the deploy file):',
  workflow: undefined,
} as const satisfies Record<Input['group'], string | undefined>;

/** The inputs that are options. */
const options = new Map([...inputs].filter(([, { group }]) => helpHeadings[group] !== undefined));

/** The environment variables that options default to, by the names of the options. */
export const environmentVariables: ReadonlyMap<string, string> = new Map(
  [...options].flatMap(([name, { variable }]) =>
    variable ? [[name, `LANDFALL_${name.toUpperCase().replaceAll('-', '_')}`]] : [],
  ),
);

/** Adds every input of the Action as an option of its name. The help lists those that apply to the command. */
export function addInputOptions(command: Command, isListed: (name: string) => boolean): void {
  for (const [name, input] of options) {
    command.addOption(
      optionOf(name, input)
        .helpGroup(helpHeadings[input.group] ?? '')
        .hideHelp(!isListed(name)),
    );
  }
}

/** The option of an input. */
export function optionOf(name: string, input: Input, value = name.split('-').at(-1)): Option {
  const variable = environmentVariables.get(name);
  const description = [
    input.option ?? input.description,
    ...(input.default === undefined ? [] : [`(default: ${input.default})`]),
    ...(variable === undefined ? [] : [`(env: ${variable})`]),
  ].join(' ');
  const option = new Option(input.kind === 'flag' ? `--${name} [true|false]` : `--${name} <${value}>`, description);
  if (variable) option.env(variable);
  if (input.kind === 'flag') option.preset('true');
  if (input.kind === 'lines') option.argParser((line, previous?: string) => (previous ? `${previous}\n${line}` : line));
  return option;
}

/** The given options as inputs of the Action, from the command line or the environment. */
export function givenInputs(command: Command): Inputs {
  return Object.fromEntries(
    command.options.flatMap((option) => {
      const value: unknown = command.getOptionValue(option.attributeName());
      const name = option.long?.slice('--'.length);
      return name && typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** The options of `preview` about the pull request, by their names, as commander has them. */
export const pullRequestOptions = {
  'pull-request': 'Number of the pull request.',
  'repository-id':
    'Number of the repository at its host, which stays when it is renamed. (env: GITHUB_REPOSITORY_ID, CI_PROJECT_ID)',
  'head-ref': 'The branch of its head, as its plain name.',
  'repository-url':
    'Address of the repository that it is to, as on the web or as the remote of git (git@host:owner/name). (env: GITHUB_SERVER_URL and GITHUB_REPOSITORY, CI_MERGE_REQUEST_PROJECT_URL, CI_PROJECT_URL)',
  'head-url':
    'Address of the repository that its commit comes from, which is another one for a fork. (env: CI_MERGE_REQUEST_SOURCE_PROJECT_URL)',
  commit: 'Full SHA of its head.',
  'approved-commit': 'Full SHA of the commit of a fork that a person approved.',
  label: 'A label of the pull request; give the option once for each.',
} as const;

/** One that is given once. */
export type PullRequestOption = Exclude<keyof typeof pullRequestOptions, 'label'>;
