import { Command, Option } from 'commander';
import { optionInputs, type Inputs } from '../../deploy/file/input-table.ts';
import { helpHeadings, optionOf } from '../deploy-flags.ts';
import type { ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { definitions, groups, type CommandDefinition } from './definitions.ts';

/** The inputs that identify a service, as options of every command that has one. */
export const serviceOptions = ['base-url', 'api-key', 'tenant-id', 'field-names', 'allow-http'] as const;

/** Their heading in the help. */
export const serviceHeading = helpHeadings.service;

/** Adds the commands of the table. @param run runs one of them, and keeps its exit code */
export function addServiceCommands(
  program: Command,
  run: (command: Command, perform: (terminal: Terminal) => Promise<ExitCode>) => Promise<void>,
): void {
  for (const definition of definitions) {
    const command = commandOf(definition, program);
    command.action(() => {
      const invocation = { args: command.processedArgs.map(textOf), options: optionsOf(command) };
      return run(command, (terminal) => definition.run(invocation, terminal));
    });
  }
}

function commandOf(
  { name, summary, args = [], options = [], former = [], isLocal = false }: CommandDefinition,
  program: Command,
): Command {
  const [first = '', second] = name.split(' ');
  const group = second === undefined ? program : groupOf(first, program);
  const command = group.command(second ?? first).description(summary);
  for (const argument of args) {
    const { name: word, description, isRequired = false } = argument;
    command.argument(isRequired ? `<${word}>` : `[${word}]`, description);
  }
  for (const { flags, description, read } of options) {
    const option = new Option(flags, description);
    command.addOption(read === undefined ? option : option.argParser(read));
  }
  for (const input of former) command.addOption(new Option(`--${input} <text>`).hideHelp());
  command.addOption(new Option('--json', 'Print the result as one line of JSON.'));
  if (isLocal) return command;
  for (const input of serviceOptions) command.addOption(optionOf(input, optionInputs[input]).helpGroup(serviceHeading));
  if (args.some((argument) => argument.name === 'name'))
    command.addOption(optionOf('config', optionInputs.config, 'path'));
  return command;
}

/** The command that has subcommands of its own, such as `secrets`. */
function groupOf(name: string, program: Command): Command {
  const found = program.commands.find((command) => command.name() === name);
  return found ?? program.command(name).description(groups.get(name) ?? '');
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The options that were given; a flag is `true`. */
function optionsOf(command: Command): Inputs {
  return Object.fromEntries(
    command.options.flatMap((option) => {
      const value: unknown = command.getOptionValue(option.attributeName());
      const name = option.name();
      return typeof value === 'string' || value === true ? [[name, String(value)]] : [];
    }),
  );
}
