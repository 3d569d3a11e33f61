import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  chooseInterpreter,
  parseInterpreters,
  describeArguments,
  interpreterPaths,
} from '../services/control/builds/python/interpreter.ts';
import * as z from 'zod';
import { deploy, deploymentOf, greet, hasPassed, requestsTo, thread, type Scenario } from './scenarios.ts';
import { Repository } from './repository.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

const example = 'python-echo-agent';
const fullName = `acme/${example}`;
const graph = 'echo_agent/graph.py';
/** The end of the example's answer in its source, before and after a change. */
const answer = `{state['input']}"`;
const cheerful = `{state['input']}!"`;

const state = z.looseObject({ output: z.string(), steps: z.array(z.string()) });

const firstTitle = 'an agent in Python is live and answers';

/** The scenarios of an agent in Python; on a machine that can't deploy one, a single skipped scenario. */
export async function pythonScenarios({
  folder,
  root,
}: Pick<DemoEnvironment, 'folder' | 'root'>): Promise<readonly Scenario[]> {
  const why = await pythonObstacle(join(folder, 'python'));
  return why === undefined ? supportedScenarios(root) : [skippedScenario(why)];
}

/** Replaces the scenarios that this machine can't run. */
const skippedScenario = (why: string): Scenario => ({
  title: 'agents in Python: four rows are not run',
  play: () => Promise.resolve({ isProven: true, isSkipped: true, summary: `not tried: ${why}` }),
});

/** @param root of this package. */
function supportedScenarios(root: string): readonly Scenario[] {
  let pythonRepository: Repository | undefined;
  const repository = (): Repository => {
    if (!pythonRepository) throw new Error('The repository of the agent in Python was not made.');
    return pythonRepository;
  };
  return [
    {
      title: firstTitle,
      async play(environment, screen) {
        const { github, folder } = environment;
        await github.createRepository(fullName);
        pythonRepository = await Repository.fromExample(
          join(root, 'examples', example),
          join(folder, 'work', fullName),
        );
        await pythonRepository.edit('.github/landfall.yml', `https://github.com/${fullName}`, github.gitUrl(fullName));
        await pythonRepository.pushTo(github.pushUrl(fullName));
        const step = await change(environment, screen, pythonRepository, 'Name the repository');
        const address = step.outputs['deployment-url'] ?? '';
        const reply = await greet(environment, screen, address);
        const isProven = hasPassed(step, 'deployed') && reply === 'hello world';
        return { isProven, summary: `${step.outputs['outcome']}, it says "${reply}"`, outputs: step.outputs, address };
      },
    },
    {
      title: 'its conversation goes on after a push',
      async play(environment, screen, completed) {
        const { address } = deploymentOf(completed, firstTitle);
        const { ask } = requestsTo(address, environment.service);
        const { thread_id: id } = await ask('/threads', thread, {});
        const call = { assistant_id: 'echo', input: { input: 'world' } };
        await ask(`/threads/${id}/runs/wait`, state, call);
        await repository().edit(graph, answer, cheerful);
        const step = await change(environment, screen, repository(), 'Be more cheerful');
        const { output, steps } = await ask(`/threads/${id}/runs/wait`, state, call);
        screen.line(`   the same thread: "${output}", after ${steps.length} nodes`);
        const isProven = hasPassed(step, 'deployed') && output === 'hello world!' && steps.length === 4;
        return {
          isProven,
          summary: `${step.outputs['outcome']}; its thread has ${steps.length} nodes, says "${output}"`,
        };
      },
    },
    {
      title: 'broken Python fails in its build',
      async play(environment, screen, completed) {
        const { address } = deploymentOf(completed, firstTitle);
        await repository().edit(graph, 'import asyncio\n', 'import asyncio\nimport module_of_nobody\n');
        const step = await change(environment, screen, repository(), 'Import what is not there');
        const reply = await greet(environment, screen, address);
        const isNamed = step.log.includes('module_of_nobody');
        const isProven =
          step.exitCode === 1 && step.outputs['outcome'] === 'failed' && isNamed && reply === 'hello world!';
        return { isProven, summary: `${step.outputs['outcome']}, still says "${reply}"` };
      },
    },
    {
      title: 'a wrong answer in Python gets no traffic',
      async play(environment, screen, completed) {
        const { address } = deploymentOf(completed, firstTitle);
        await repository().edit(graph, 'import module_of_nobody\n', '');
        await repository().edit(graph, cheerful, 'nobody"');
        const step = await change(environment, screen, repository(), 'Forget the name');
        const reply = await greet(environment, screen, address);
        const isProven = step.exitCode === 1 && step.outputs['outcome'] === 'discarded' && reply === 'hello world!';
        return { isProven, summary: `${step.outputs['outcome']}, still says "${reply}"` };
      },
    },
  ];
}

/** Commits, pushes, and runs the Action as its workflow would. */
const change = async (environment: DemoEnvironment, screen: Renderer, repository: Repository, message: string) =>
  deploy(environment, screen, await repository.commit(message), {}, { repository, fullName });

const run = promisify(execFile);

/** A small package, to test whether pip reaches its index. */
const smallPackage = 'iniconfig';

/**
 * Why an agent in Python can't be deployed on this machine; undefined if it can.
 *
 * @param folder for the virtual environment of the test; it does not exist yet.
 */
async function pythonObstacle(folder: string): Promise<string | undefined> {
  const paths = interpreterPaths(process.env['PATH'] ?? '');
  const described = paths.length === 0 ? '' : (await run('/bin/sh', describeArguments(paths))).stdout;
  const choice = chooseInterpreter(parseInterpreters(described.split('\n')), { needsPip: true });
  if (choice.kind === 'none') return choice.reason;
  const pipOptions = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries=0', '--timeout=10'];
  const download = [
    '-I',
    '-m',
    'pip',
    'download',
    ...pipOptions,
    '--no-deps',
    '--dest',
    join(folder, 'packages'),
    smallPackage,
  ];
  try {
    await run(choice.interpreter.path, ['-I', '-m', 'venv', folder], { timeout: 120_000 });
    await run(join(folder, 'bin', 'python'), download, { timeout: 60_000 });
    return undefined;
  } catch {
    return `pip of Python ${choice.interpreter.version} gets no package from its index.`;
  }
}
