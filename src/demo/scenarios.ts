import { setTimeout as pause } from 'node:timers/promises';
import { shortCommit } from '../contract/control/repo-ref.ts';
import { systemClock } from '../kit/clock.ts';
import { messageOf } from '../kit/errors.ts';
import type { StepResult } from './runner.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';
import * as z from 'zod';
import type { LocalService } from './processes.ts';

/** What an act showed. */
export interface ScenarioResult {
  held: boolean;
  /** It could not be tried on this machine, and `seen` says why. */
  isSkipped?: boolean;
  /** What was seen, in a few words. */
  seen: string;
  outputs?: Record<string, string>;
  /** Where the agent answers. */
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
    before: readonly CompletedScenario[],
  ) => Promise<ScenarioResult>;
}

/** The example's graph. */
export const graph = 'src/graph.ts';
/** What the example answers, before and after it was made more cheerful. */
const answer = '${input}`';
const cheerful = '${input}!`';

/** The main job, in the order in which a team meets it. */
export const scenarios: readonly Scenario[] = [
  {
    title: 'the first deployment is live and answers',
    async play(environment, screen) {
      const step = await deploy(environment, screen, await environment.repository.head());
      const address = step.outputs['deployment-url'] ?? '';
      const said = await greet(environment, screen, address);
      const held = isOutcome(step, 'deployed') && said === 'hello world';
      return { held, seen: `${step.outputs['outcome']}, it says "${said}"`, outputs: step.outputs, address };
    },
  },
  {
    title: 'a change is one revision, without downtime',
    async play(environment, screen, before) {
      const { id, address } = deployed(before);
      const revisions = await environment.countRevisions(id);
      const agent = requestsTo(address, environment.service);
      await environment.repository.edit(graph, answer, cheerful);
      const commit = await environment.repository.commit('Be more cheerful');
      const asking = agent.keepAsking();
      const step = await deploy(environment, screen, commit);
      const said = await agent.echo('world');
      const { call, failed } = await asking.stop();
      const made = (await environment.countRevisions(id)) - revisions;
      screen.line(`   meanwhile ${call} questions, ${failed.length} without an answer; now "${said}"`);
      for (const each of failed.slice(0, 3)) screen.quote(each);
      const held = isOutcome(step, 'deployed') && made === 1 && failed.length === 0 && said === 'hello world!';
      const seen = `${made} revision; of ${call} questions ${failed.length} failed`;
      return { held, seen, outputs: { ...step.outputs, commit } };
    },
  },
  {
    title: 'the same again changes nothing',
    async play(environment, screen, before) {
      const { id } = deployed(before);
      const revisions = await environment.countRevisions(id);
      const step = await deploy(environment, screen, await environment.repository.head());
      const made = (await environment.countRevisions(id)) - revisions;
      return {
        held: isOutcome(step, 'unchanged') && made === 0,
        seen: `${step.outputs['outcome']}, ${made} revisions`,
      };
    },
  },
  {
    title: 'a broken graph fails, the former one serves',
    async play(environment, screen, before) {
      const { address } = deployed(before);
      await environment.repository.edit(
        graph,
        'export const graph =',
        'export const graph: unknown = undefined;\nexport const other =',
      );
      const step = await deploy(environment, screen, await environment.repository.commit('Forget the graph'));
      const said = await greet(environment, screen, address);
      const hasLog = step.log.includes('graph');
      const held = step.exitCode === 1 && step.outputs['outcome'] === 'failed' && hasLog && said === 'hello world!';
      return { held, seen: `${step.outputs['outcome']}, still says "${said}"` };
    },
  },
  {
    title: 'a wrong answer is discarded before traffic',
    async play(environment, screen, before) {
      const { address } = deployed(before);
      await environment.repository.edit(
        graph,
        'export const graph: unknown = undefined;\nexport const other =',
        'export const graph =',
      );
      await environment.repository.edit(graph, cheerful, 'wrong`');
      const asking = requestsTo(address, environment.service).keepAsking();
      const step = await deploy(environment, screen, await environment.repository.commit('Lose the thread'));
      const { call, failed, answers } = await asking.stop();
      const said = [...answers].join('" and "');
      const held =
        step.exitCode === 1 &&
        step.outputs['outcome'] === 'discarded' &&
        failed.length === 0 &&
        said === 'hello there!';
      return { held, seen: `${step.outputs['outcome']}; ${call} questions meanwhile were answered "${said}"` };
    },
  },
  {
    title: 'a wrong answer after traffic is rolled back',
    async play(environment, screen, before) {
      const { address } = deployed(before);
      const inputs = { verify: 'after-traffic', 'on-failure': 'rollback' };
      const step = await deploy(environment, screen, await environment.repository.head(), inputs);
      const said = await greet(environment, screen, address);
      const back = step.outputs['rolled-back-to'] ?? '';
      const held =
        step.exitCode === 1 && step.outputs['outcome'] === 'rolled-back' && back !== '' && said === 'hello world!';
      return { held, seen: `${step.outputs['outcome']}, says "${said}"` };
    },
  },
  {
    title: 'a conversation that would break is found',
    async play(environment, screen, before) {
      const { ask } = requestsTo(deployed(before).address, environment.service);
      const { thread_id: id } = await ask('/threads', thread, {});
      await ask(`/threads/${id}/runs/wait`, echoed, { assistant_id: 'echo', input: { input: 'world' } });
      await environment.repository.edit(graph, /\bsteps\b/g, 'trail');
      const commit = await environment.repository.commit('Rename a channel of the state');
      const step = await deploy(environment, screen, commit, { 'smoke-tests': '[]', conversations: '5' });
      await environment.repository.edit(graph, /\btrail\b/g, 'steps');
      await environment.repository.commit('Name it as before');
      const why = `thread ${id}: its state has the channel \`steps\`, which the new revision does not have`;
      const held = step.outputs['outcome'] === 'discarded' && (step.outputs['reason'] ?? '').includes(why);
      return { held, seen: `${step.outputs['outcome']}, the channel \`steps\` of a thread is missing` };
    },
  },
];

/** Looks until something holds; false where it does not within this time (ms), enough for a build by default. */
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
  const asked = on ? inputs : { 'build-on-push': 'true', ...inputs };
  const step = await environment.deploy(commit, asked, quoting(environment, screen), on);
  if (step.exitCode !== 0) screen.line(`   exit code ${step.exitCode}`);
  return step;
}

/** Shows the lines that a step prints. Commands to the runner, and expectations that held, would fill the screen. */
export const quoting =
  ({ folder }: DemoEnvironment, screen: Renderer) =>
  (line: string): void => {
    if (!/^(::|\s+ok )/.test(line)) screen.quote(`| ${line.replaceAll(`${folder}/`, '')}`);
  };

/** Shows what the agent at an address says to the world. */
export async function greet({ service }: DemoEnvironment, screen: Renderer, address: string): Promise<string> {
  const said = address ? await requestsTo(address, service).echo('world') : '';
  screen.line(`   input "world": "${said}"`);
  return said;
}

/** Whether a step ended so, with all smoke tests passed. */
export const isOutcome = ({ exitCode, outputs }: StepResult, outcome: string): boolean =>
  exitCode === 0 && outputs['outcome'] === outcome && outputs['smoke-verdict'] === 'passed';

/** The deployment that an act made; by default the first one. */
export function deployed(
  before: readonly CompletedScenario[],
  title = before[0]?.title,
): { id: string; address: string } {
  const shown = before.find((each) => each.title === title);
  return { id: shown?.outputs?.['deployment-id'] ?? '', address: shown?.address ?? '' };
}

/** A thread that was made. */
export const thread = z.looseObject({ thread_id: z.string() });

/** What a run of the echo agent ends with. */
export const echoed = z.looseObject({ output: z.string() });

/**
 * Calls a deployed agent as its clients do: at the deployment's address, with the service's key.
 *
 * @param address of the agent: the deployment's, which stays the same over all revisions.
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
   * The answer to a request that goes well, read; with `body` a POST where no `method` is named. @throws Error
   * otherwise.
   */
  const ask = async <T>(
    path: string,
    shape: z.ZodType<T>,
    body?: object,
    method = body ? 'POST' : 'GET',
  ): Promise<T> => {
    const { status, text } = await request(method, path, body);
    if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 200)}`);
    return shape.parse(JSON.parse(text));
  };
  /** One answer of the echo agent, by an assistant of it where one is named. @throws Error where there was none. */
  const echo = async (input: string, assistant = 'echo'): Promise<string> =>
    (await ask('/runs/wait', echoed, { assistant_id: assistant, input: { input } })).output;
  return {
    ask,
    echo,
    /** Status and text of a POST, whatever they are. */
    send: (path: string, body: object) => request('POST', path, body),
    /** Calls the echo agent repeatedly until stopped; `failed` lists the failed responses. */
    keepAsking() {
      const seen = { call: 0, failed: [] as string[], answers: new Set<string>() };
      const stopped = new AbortController();
      const asking = (async () => {
        while (!stopped.signal.aborted) {
          seen.call += 1;
          await echo('there').then(
            (said) => seen.answers.add(said),
            (error: unknown) => seen.failed.push(messageOf(error)),
          );
          await pause(100);
        }
      })();
      return {
        async stop() {
          stopped.abort();
          await asking;
          return seen;
        },
      };
    },
  };
}
