import { join } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { version } from '../host/version.ts';
import type { Mode } from '../deploy/file/entry-options.ts';
import { inputs as allInputs, optionInputs } from '../deploy/file/input-table.ts';
import { addAppCommands } from './app-commands.ts';
import { exitCodes } from './problems.ts';
import { addInputOptions, givenInputs, optionOf } from './deploy-flags.ts';
import { Terminal, type Streams } from './terminal.ts';

const scenarios: readonly [mode: Mode, description: string][] = [
  ['plan', 'Show what a deploy would change and why. Changes nothing.'],
  ['deploy', 'Apply the changes, wait until the revision is live, and run the smoke tests.'],
  ['smoke', 'Run the smoke tests against the live agent. Changes nothing.'],
  ['rollback', 'Go back to the revision that was live before, wait until it serves, and run the smoke tests.'],
  ['delete', 'Delete the named deployment, and wait until it is gone. With --dry-run, only show which one.'],
];

/** Which deployment is meant, and how its service is reached. */
const identityInputs = new Set([
  'config',
  'deployment',
  'deployment-id',
  'name',
  'base-url',
  'api-key',
  'tenant-id',
  'field-names',
  'allow-http',
]);

/** What two agents are compared by, and how they are reached. */
const comparedInputs = new Set([...identityInputs, 'smoke-tests', 'grader-keys', 'conversations']);

const testInputs = ['agent-url', 'grader-keys', 'timeout-minutes', 'smoke-tests'];
const waitInputs = ['wait', 'timeout-minutes', 'poll-seconds'];

/** The inputs beside the identity that apply to a command; of `deploy` and `plan`, those that do not. */
const inputsOfMode: Readonly<Record<Mode, readonly string[]>> = {
  deploy: ['keep-tracing-project'],
  plan: ['keep-tracing-project', 'dry-run', 'wait', 'poll-seconds', 'journal', 'on-superseded'],
  smoke: testInputs,
  rollback: [...testInputs, ...waitInputs, 'journal', 'on-superseded'],
  delete: [...waitInputs, 'dry-run', 'keep-tracing-project'],
};

/** Whether an input changes what a command does. All are accepted, so that the same options do for each command. */
const appliesTo = (mode: Mode, name: string): boolean =>
  identityInputs.has(name) || inputsOfMode[mode].includes(name) !== (mode === 'deploy' || mode === 'plan');

/** The folder of this package: two above this file, as it is written and as it is built. */
const root = join(import.meta.dirname, '../..');

const afterHelp = `
Exit code: 0 if the outcome passes, 1 if it does not, 2 if the input is invalid and nothing was sent.`;

/** Runs one command line (without the program's own name) and returns its exit code. Only a bug rejects. */
export async function runCommandLine(args: readonly string[], streams: Streams): Promise<number> {
  let code: number = exitCodes.passes;
  const terminalOf = (command: Command): Terminal =>
    new Terminal(streams, { json: command.getOptionValue('json') === true });
  const program = new Command('landfall')
    .description('Deploys AI agents and verifies that they work.')
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('Try it with --help.')
    .configureHelp({ optionDescription: ({ description }) => description, sortSubcommands: false })
    .configureOutput({
      writeOut: streams.out,
      // A mistyped option is quoted with what was given to it, which may be a key.
      writeErr: (text) => streams.err(text.replace(/(?<![\w-])(--?[\w-]+)=[^\s']*/g, '$1=...')),
    })
    .addHelpText('after', afterHelp);

  addProgram(program, 'local', 'Run the control service and its agents on this machine', async (given) => {
    const { runLocalProgram } = await import('../services/control/local-command.ts');
    await runLocalProgram(given);
  });

  addProgram(program, 'listener', 'Carry out deployments in a Kubernetes cluster', async (given) => {
    const { runListenerProgram } = await import('../services/listener/listener-command.ts');
    await runListenerProgram(given, version);
  });

  program
    .command('demo')
    .description('Show on this machine how an agent is deployed, changed, broken and rolled back.')
    .option('--keep', 'leave everything running at the end, and say how to talk to it')
    .action(async (_, command: Command) => {
      const { demo } = await import('../demo/demo.ts');
      code = await demo({ root, keepRunning: command.getOptionValue('keep') === true, write: streams.out });
    });

  for (const [mode, description] of scenarios) {
    const command = program.command(mode).description(description);
    addInputOptions(command, (name) => appliesTo(mode, name));
    command.addOption(json());
    if (mode === 'plan' || mode === 'deploy') command.addOption(commit());
    if (mode === 'deploy' || mode === 'rollback') command.addOption(resume());
    if (mode === 'smoke') command.addOption(tries());
    command.addHelpText('after', afterHelp).action(async () => {
      const terminal = terminalOf(command);
      const sha: unknown = command.getOptionValue('commit');
      const { deployCommand } = await import('./deploy-command.ts');
      code = await deployCommand(
        {
          mode,
          inputs: givenInputs(command),
          commit: typeof sha === 'string' ? sha.trim() : undefined,
          resume: command.getOptionValue('resume') === true,
        },
        terminal,
      );
    });
  }

  const comparing = program
    .command('compare')
    .description('Send two agents the same smoke tests in turns, and say whether the new one is worse; change nothing.')
    .option('--live <url|id>', 'The agent that serves: its address, or a revision. (default: the live revision)')
    .option('--new <url|id>', 'The agent that is to replace it, in the same way. (default: the held revision)')
    .option('--tries <n>', 'The most pairs of requests of one smoke test, from 20 to 200. (default: 160)');
  for (const [name, input] of allInputs) if (comparedInputs.has(name)) comparing.addOption(optionOf(name, input));
  comparing.addOption(json()).action(async () => {
    const { compareCommand } = await import('./compare.ts');
    code = await compareCommand(givenInputs(comparing), terminalOf(comparing));
  });

  const discarding = program
    .command('discard')
    .description('End the revision that is held before traffic, so that newer ones that wait for it go on.')
    .option('--revision <id>', 'The revision. (default: the one that has been held for longest)');
  for (const [name, input] of allInputs) if (identityInputs.has(name)) discarding.addOption(optionOf(name, input));
  discarding.addOption(json()).action(async () => {
    const { discardCommand } = await import('./discard.ts');
    code = await discardCommand(givenInputs(discarding), terminalOf(discarding));
  });

  addAppCommands(program, async (command, requested) => {
    const terminal = terminalOf(command);
    const { operate } = await import('../../app/operate/operate.ts');
    const done = await operate(requested, { folder: process.cwd(), env: process.env }, terminal);
    code = done ? exitCodes.passes : exitCodes.fails;
  });

  const validate = program
    .command('validate')
    .description(
      'Check the deploy file, and the graph configuration files and the folders that it names; needs no key and sends nothing.',
    )
    .addOption(optionOf('config', optionInputs.config, 'path'))
    .addOption(json())
    .action(async () => {
      const terminal = terminalOf(validate);
      const { reportValidation } = await import('./validate.ts');
      code = await reportValidation(givenInputs(validate), terminal);
    });

  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.passes : exitCodes.wrongUsage;
  }
}

/** Adds a program that reads what follows its name itself, and ends this process itself. */
function addProgram(
  program: Command,
  name: string,
  description: string,
  run: (args: readonly string[]) => Promise<void>,
): void {
  program
    .command(name)
    .description(`${description}; landfall ${name} --help lists its options.`)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .passThroughOptions()
    .action((_, { args }: Command) => run(args));
}

const json = (): Option =>
  new Option('--json', 'Print the result as one line of JSON; progress goes to standard error.');

const resume = (): Option => new Option('--resume', 'Go on with the run that was interrupted, and begin none.');

const tries = (): Option =>
  new Option(
    '--tries <n>',
    'Count so many answers to each smoke test, from 1 to 1000, whatever the file says of tries.',
  );

const commit = (): Option =>
  new Option(
    '--commit <sha>',
    'The commit that repo-ref is at; read from git if the working directory is a checkout of it.',
  );
