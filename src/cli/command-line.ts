import { join } from 'node:path';
import { Argument, Command, CommanderError, Option } from 'commander';
import { version } from '../kit/version.ts';
import type { RunSubject } from '../deploy/file/desired.ts';
import { inputs as allInputs, optionInputs } from '../deploy/file/input-table.ts';
import { addAppCommands } from './app-commands.ts';
import { completionScript, type Shell, shells } from './completion.ts';
import { addServiceCommands, serviceHeading, serviceOptions } from './commands/add-commands.ts';
import { useLogin } from './logins/use-login.ts';
import { exitCodes } from './problems.ts';
import { addInputOptions, givenInputs, optionOf, pullRequestOptions } from './deploy-flags.ts';
import { Terminal, type Streams } from './terminal.ts';

type Mode = RunSubject['mode'];

const modes: readonly [mode: Mode, description: string][] = [
  ['plan', 'Show what a deploy would change and why. Changes nothing.'],
  ['deploy', 'Apply the changes, wait until the revision is live, and run the smoke tests.'],
  ['smoke', 'Run the smoke tests against the live agent. Changes nothing.'],
  ['rollback', 'Go back to the revision that was live before, wait until it serves, and run the smoke tests.'],
  ['delete', 'Delete the named deployment, and wait until it is gone. With --dry-run, only show which one.'],
];

/** The inputs that identify a service. */
const serviceInputs = new Set<string>(serviceOptions);

/** The inputs that identify a deployment and its service. */
const identityInputs = new Set(['config', 'deployment', 'deployment-id', 'name', ...serviceInputs]);

/** The inputs of `compare`. */
const comparedInputs = new Set([...identityInputs, 'smoke-tests', 'grader-keys', 'conversations']);

/** The inputs of `preview` besides. */
const previewInputs = new Set(['image-uri', 'source-dir', 'grader-keys', 'timeout-minutes', 'poll-seconds', 'wait']);

const testInputs = ['agent-url', 'grader-keys', 'timeout-minutes', 'smoke-tests'];
const waitInputs = ['wait', 'timeout-minutes', 'poll-seconds'];

/** The inputs that apply to a command besides the identity; for `deploy` and `plan`, those that do not apply. */
const inputsOfMode: Readonly<Record<Mode, readonly string[]>> = {
  deploy: ['keep-tracing-project'],
  plan: ['keep-tracing-project', 'dry-run', 'wait', 'poll-seconds', 'journal', 'receipt', 'on-superseded'],
  smoke: testInputs,
  rollback: [...testInputs, ...waitInputs, 'journal', 'receipt', 'on-superseded'],
  delete: [...waitInputs, 'dry-run', 'receipt', 'keep-tracing-project'],
};

/** Whether an input has an effect on a command. All are accepted, so that every command takes the same options. */
const appliesTo = (mode: Mode, name: string): boolean =>
  identityInputs.has(name) || inputsOfMode[mode].includes(name) !== (mode === 'deploy' || mode === 'plan');

/** The folder of this package: two levels above this file, both in the sources and in the build. */
const root = join(import.meta.dirname, '../..');

const afterHelp = `
Exit code: 0 if the outcome passes, 1 if it does not, 2 if the input is invalid and nothing was sent.`;

/** Runs one command line (without the program's own name) and returns its exit code. Rejects only for a bug. */
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
      // Commander quotes a mistyped option with its value, which may be a key.
      writeErr: (text) => streams.err(text.replace(/(?<![\w-])(--?[\w-]+)=[^\s']*/g, '$1=...')),
    })
    .addHelpText('after', afterHelp);

  addProgram(program, 'local', 'Run the control service and its agents on this machine', async (args) => {
    const { runLocalProgram } = await import('../services/control/local-command.ts');
    await runLocalProgram(args);
  });

  addProgram(program, 'listener', 'Carry out deployments in a Kubernetes cluster', async (args) => {
    const { runListenerProgram } = await import('../services/listener/listener-command.ts');
    await runListenerProgram(args, version);
  });

  program
    .command('demo')
    .description('Show on this machine how an agent is deployed, changed, broken and rolled back.')
    .option('--keep', 'leave everything running at the end, and say how to talk to it')
    .action(async (_, command: Command) => {
      const { demo } = await import('../demo/demo.ts');
      code = await demo({ root, keepRunning: command.getOptionValue('keep') === true, write: streams.out });
    });

  for (const [mode, description] of modes) {
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
      const commitSha = typeof sha === 'string' ? sha.trim() : undefined;
      const resumes = command.getOptionValue('resume') === true;
      code = await deployCommand({ mode, inputs: givenInputs(command), commit: commitSha, resume: resumes }, terminal);
    });
  }

  addServiceCommands(program, async (command, perform) => {
    code = await perform(terminalOf(command));
  });

  const preview = program
    .command('preview')
    .description('Create or update the preview of a pull request, test it, and with --closed remove it.');
  addInputOptions(preview, (name) => identityInputs.has(name) || previewInputs.has(name));
  for (const [name, description] of Object.entries(pullRequestOptions)) {
    const option = new Option(`--${name} <${name.split('-').at(-1)}>`, description);
    preview.addOption(
      name === 'label' ? option.default([]).argParser((text, all: string[]) => [...all, text]) : option,
    );
  }
  preview
    .option('--closed', 'The pull request is closed: remove its previews.')
    .addOption(json())
    .addHelpText('after', afterHelp)
    .action(async () => {
      const { previewCommand } = await import('./preview-command.ts');
      const given = givenInputs(preview);
      const labels: unknown = preview.getOptionValue('label');
      const command = {
        inputs: given,
        pull: given,
        labels: Array.isArray(labels) ? labels.map(String) : [],
        isClosed: preview.getOptionValue('closed') === true,
      };
      code = await previewCommand(command, terminalOf(preview));
    });

  const compare = program
    .command('compare')
    .description('Send two agents the same smoke tests in turns, and say whether the new one is worse; change nothing.')
    .option('--live <url|id>', 'The agent that serves: its address, or a revision. (default: the live revision)')
    .option('--new <url|id>', 'The agent that is to replace it, in the same way. (default: the held revision)')
    .option('--tries <n>', 'The most pairs of requests of one smoke test, from 20 to 200. (default: 160)');
  for (const [name, input] of allInputs) if (comparedInputs.has(name)) compare.addOption(optionOf(name, input));
  compare.addOption(json()).action(async () => {
    const { compareCommand } = await import('./compare.ts');
    code = await compareCommand(givenInputs(compare), terminalOf(compare));
  });

  const verify = program
    .command('receipt')
    .description('Check the receipt of a deploy.')
    .command('verify')
    .description(
      'Check each claim of a receipt, or of a signed bundle that holds one, against the service. Changes nothing. Signatures are checked by gh attestation verify.',
    )
    .argument('<file>', 'the receipt, the text of a check of the App, or what gh attestation download wrote');
  for (const [name, input] of allInputs) if (serviceInputs.has(name)) verify.addOption(optionOf(name, input));
  verify.addOption(json()).action(async (file: string) => {
    const { verifyReceiptCommand } = await import('./receipt.ts');
    code = await verifyReceiptCommand(file, givenInputs(verify), terminalOf(verify));
  });

  addAppCommands(program, async (command, requested) => {
    const terminal = terminalOf(command);
    const { operate } = await import('../../app/operate/operate.ts');
    const isDone = await operate(requested, { folder: process.cwd(), env: process.env }, terminal);
    code = isDone ? exitCodes.passes : exitCodes.fails;
  });

  const init = program
    .command('init')
    .description('Write the deploy file, a workflow and a first smoke test for the agent in this repository.')
    .option('--agent <path>', 'The folder of the agent, or its langgraph.json. (default: the only one here or below)')
    .option('--name <text>', 'The name of the deployment. (default: that of the folder)')
    .option('--copy-action', 'Copy the Action into the repository, and use it from there.')
    .option('--dry-run', 'Print the files and write nothing.')
    .addOption(json())
    .action(async () => {
      const terminal = terminalOf(init);
      const { initCommand } = await import('./init/init.ts');
      const { agent, name } = givenInputs(init);
      const isOn = (option: string): boolean => init.getOptionValue(option) === true;
      const request = { root, agent, name, copyAction: isOn('copyAction'), dryRun: isOn('dryRun') };
      code = await initCommand(request, terminal);
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

  program
    .command('completion')
    .description('Print the script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'Which shell.').choices(shells))
    .addHelpText('after', '\nFor bash: echo "source <(landfall completion bash)" >> ~/.bashrc')
    .action((name: Shell) => streams.out(completionScript(name, program)));

  for (const command of commandsOf(program)) {
    if (!command.options.some((option) => option.name() === 'base-url')) continue;
    command.addOption(
      new Option(
        '--service <name>',
        'A stored login, instead of --base-url and --api-key: landfall services list.',
      ).helpGroup(serviceHeading),
    );
    command.hook('preAction', () => useLogin(command, process.env));
  }

  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.passes : exitCodes.wrongUsage;
  }
}

/** A command with all below it. */
const commandsOf = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsOf)];

/** Adds a program that parses its own arguments and exits by itself. */
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
