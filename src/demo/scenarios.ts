import { setTimeout as pause } from 'node:timers/promises';
import { shortCommit } from '../contract/control/repo-ref.ts';
import { systemClock } from '../kit/clock.ts';
import { messageOf } from '../kit/errors.ts';
import type { StepResult } from './runner.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';
import * as z from 'zod';
import type { LocalService } from './processes.ts';

/** The result of a scenario. */
export interface ScenarioResult {
  /** Whether the claim in the scenario's title was proven. */
  isProven: boolean;
  /** True if this machine cannot run the scenario; `summary` says why. */
  isSkipped?: boolean;
  /** The observation in a few words. */
  summary: string;
  outputs?: Record<string, string>;
  /** The address of the scenario's agent. */
  address?: string;
}

export interface CompletedScenario extends ScenarioResult {
  title: string;
}

export interface Scenario {
  title: string;
  play: (
    environment: DemoEnvironment,
    screen: Renderer,
    completed: readonly CompletedScenario[],
  ) => Promise<ScenarioResult>;
}

/** The example's graph. */
export const graph = 'src/graph.ts';
/** The end of the example's answer in its source, before and after a change. */
const answer = '${input}`';
const cheerful = '${input}!`';

/** The main job, in the order in which a team does it. */
export const scenarios: readonly Scenario[] = [
  {
    title: 'the first deployment is live and answers',
    async play(environment, screen) {
      const step = await deploy(environment, screen, await environment.repository.head());
      const address = step.outputs['deployment-url'] ?? '';
      const reply = await greet(environment, screen, address);
      const isProven = hasPassed(step, 'deployed') && reply === 'hello world';
      return { isProven, summary: `${step.outputs['outcome']}, it says "${reply}"`, outputs: step.outputs, address };
    },
  },
  {
    title: 'a change is one revision, without downtime',
    async play(environment, screen, completed) {
      const { id, address } = deploymentOf(completed);
      const revisions = await environment.countRevisions(id);
      const agent = requestsTo(address, environment.service);
      await environment.repository.edit(graph, answer, cheerful);
      const commit = await environment.repository.commit('Be more cheerful');
      const caller = agent.keepCalling();
      const step = await deploy(environment, screen, commit);
      const reply = await agent.echo('world');
      const { count, failed } = await caller.stop();
      const newRevisions = (await environment.countRevisions(id)) - revisions;
      screen.line(`   meanwhile ${count} questions, ${failed.length} without an answer; now "${reply}"`);
      for (const each of failed.slice(0, 3)) screen.quote(each);
      const isProven =
        hasPassed(step, 'deployed') && newRevisions === 1 && failed.length === 0 && reply === 'hello world!';
      const summary = `${newRevisions} revision; of ${count} questions ${failed.length} failed`;
      return { isProven, summary, outputs: { ...step.outputs, commit } };
    },
  },
  {
    title: 'the same again changes nothing',
    async play(environment, screen, completed) {
      const { id } = deploymentOf(completed);
      const revisions = await environment.countRevisions(id);
      const step = await deploy(environment, screen, await environment.repository.head());
      const newRevisions = (await environment.countRevisions(id)) - revisions;
      return {
        isProven: hasPassed(step, 'unchanged') && newRevisions === 0,
        summary: `${step.outputs['outcome']}, ${newRevisions} revisions`,
      };
    },
  },
  {
    title: 'a broken graph fails, the former one serves',
    async play(environment, screen, completed) {
      const { address } = deploymentOf(completed);
      await environment.repository.edit(
        graph,
        'export const graph =',
        'export const graph: unknown = undefined;\nexport const other =',
      );
      const step = await deploy(environment, screen, await environment.repository.commit('Forget the graph'));
      const reply = await greet(environment, screen, address);
      const hasLog = step.log.includes('graph');
      const isProven =
        step.exitCode === 1 && step.outputs['outcome'] === 'failed' && hasLog && reply === 'hello world!';
      return { isProven, summary: `${step.outputs['outcome']}, still says "${reply}"` };
    },
  },
  {
    title: 'a wrong answer is discarded before traffic',
    async play(environment, screen, completed) {
      const { address } = deploymentOf(completed);
      await environment.repository.edit(
        graph,
        'export const graph: unknown = undefined;\nexport const other =',
        'export const graph =',
      );
      await environment.repository.edit(graph, cheerful, 'wrong`');
      const caller = requestsTo(address, environment.service).keepCalling();
      const step = await deploy(environment, screen, await environment.repository.commit('Lose the thread'));
      const { count, failed, answers } = await caller.stop();
      const reply = [...answers].join('" and "');
      const isProven =
        step.exitCode === 1 &&
        step.outputs['outcome'] === 'discarded' &&
        failed.length === 0 &&
        reply === 'hello there!';
      return { isProven, summary: `${step.outputs['outcome']}; ${count} questions meanwhile were answered "${reply}"` };
    },
  },
  {
    title: 'a wrong answer after traffic is rolled back',
    async play(environment, screen, completed) {
      const { address } = deploymentOf(completed);
      const inputs = { verify: 'after-traffic', 'on-failure': 'rollback' };
      const step = await deploy(environment, screen, await environment.repository.head(), inputs);
      const reply = await greet(environment, screen, address);
      const back = step.outputs['rolled-back-to'] ?? '';
      const isProven =
        step.exitCode === 1 && step.outputs['outcome'] === 'rolled-back' && back !== '' && reply === 'hello world!';
      return { isProven, summary: `${step.outputs['outcome']}, says "${reply}"` };
    },
  },
  {
    title: 'a conversation that would break is found',
    async play(environment, screen, completed) {
      const { ask } = requestsTo(deploymentOf(completed).address, environment.service);
      const { thread_id: id } = await ask('/threads', thread, {});
      await ask(`/threads/${id}/runs/wait`, echoOutput, { assistant_id: 'echo', input: { input: 'world' } });
      await environment.repository.edit(graph, /\bsteps\b/g, 'trail');
      const commit = await environment.repository.commit('Rename a channel of the state');
      const step = await deploy(environment, screen, commit, { 'smoke-tests': '[]', conversations: '5' });
      await environment.repository.edit(graph, /\btrail\b/g, 'steps');
      await environment.repository.commit('Name it as before');
      const why = `thread ${id}: its state has the channel \`steps\`, which the new revision does not have`;
      const isProven = step.outputs['outcome'] === 'discarded' && (step.outputs['reason'] ?? '').includes(why);
      return { isProven, summary: `${step.outputs['outcome']}, the channel \`steps\` of a thread is missing` };
    },
  },
];

/** Polls until a condition holds. False after the time limit (ms), which by default is enough for a build. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 150_000): Promise<boolean> {
  const end = systemClock.now() + withinMs;
  while (!(await holds())) {
    if (systemClock.now() > end) return false;
    await systemClock.sleep(100);
  }
  return true;
}

/** Pushes a commit, and runs the Action as its workflow would. */
export async function deploy(
  environment: DemoEnvironment,
  screen: Renderer,
  commit: string,
  inputs: Readonly<Record<string, string>> = {},
  on?: Parameters<DemoEnvironment['deploy']>[3],
): Promise<StepResult> {
  screen.line(`   commit ${shortCommit(commit)}, then the Action as a runner starts it:`);
  const allInputs = on ? inputs : { 'build-on-push': 'true', ...inputs };
  const step = await environment.deploy(commit, allInputs, quoteLines(environment, screen), on);
  if (step.exitCode !== 0) screen.line(`   exit code ${step.exitCode}`);
  return step;
}

/** Shows the lines that a step prints, except commands to the runner and passed expectations. */
export const quoteLines =
  ({ folder }: DemoEnvironment, screen: Renderer) =>
  (line: string): void => {
    if (!/^(::|\s+ok )/.test(line)) screen.quote(`| ${line.replaceAll(`${folder}/`, '')}`);
  };

/** Sends "world" to the agent at an address, shows the answer and returns it. */
export async function greet({ service }: DemoEnvironment, screen: Renderer, address: string): Promise<string> {
  const reply = address ? await requestsTo(address, service).echo('world') : '';
  screen.line(`   input "world": "${reply}"`);
  return reply;
}

/** Whether a step succeeded with this outcome and passed smoke tests. */
export const hasPassed = ({ exitCode, outputs }: StepResult, outcome: string): boolean =>
  exitCode === 0 && outputs['outcome'] === outcome && outputs['smoke-verdict'] === 'passed';

/** The deployment of an earlier scenario; by default that of the first. */
export function deploymentOf(
  completed: readonly CompletedScenario[],
  title = completed[0]?.title,
): { id: string; address: string } {
  const shown = completed.find((each) => each.title === title);
  return { id: shown?.outputs?.['deployment-id'] ?? '', address: shown?.address ?? '' };
}

/** The response to a created thread. */
export const thread = z.looseObject({ thread_id: z.string() });

/** The output of a run of the echo agent. */
export const echoOutput = z.looseObject({ output: z.string() });

/**
 * Calls a deployed agent as its clients do: at the deployment's address, with the service's key.
 *
 * @param address the deployment's address, which stays the same for all revisions.
 */
export function requestsTo(address: string, { apiKey }: Pick<LocalService, 'apiKey'>) {
  const request = async (method: string, path: string, body?: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, text: await response.text() };
  };
  /**
   * Sends a request and parses the response; with a `body` it is a POST by default. @throws Error unless the status is
   * 200.
   */
  const ask = async <T>(
    path: string,
    schema: z.ZodType<T>,
    body?: object,
    method = body ? 'POST' : 'GET',
  ): Promise<T> => {
    const { status, text } = await request(method, path, body);
    if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 200)}`);
    return schema.parse(JSON.parse(text));
  };
  /** Runs the echo agent, or one of its assistants, and returns its output. @throws Error if the run fails. */
  const echo = async (input: string, assistant = 'echo'): Promise<string> =>
    (await ask('/runs/wait', echoOutput, { assistant_id: assistant, input: { input } })).output;
  return {
    ask,
    echo,
    /** Sends a POST and returns status and text, also of errors. */
    send: (path: string, body: object) => request('POST', path, body),
    /** Calls the echo agent repeatedly until stopped; `failed` lists the failed responses. */
    keepCalling() {
      const calls = { count: 0, failed: [] as string[], answers: new Set<string>() };
      const stopped = new AbortController();
      const calling = (async () => {
        while (!stopped.signal.aborted) {
          calls.count += 1;
          await echo('there').then(
            (answer) => calls.answers.add(answer),
            (error: unknown) => calls.failed.push(messageOf(error)),
          );
          await pause(100);
        }
      })();
      return {
        async stop() {
          stopped.abort();
          await calling;
          return calls;
        },
      };
    },
  };
}
