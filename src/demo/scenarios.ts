import { systemClock } from '../clock.ts';
import type { StepResult } from './runner.ts';
import type { Screen } from './screen.ts';
import type { DemoEnvironment } from './environment.ts';
import * as z from 'zod';
import type { LocalService } from './processes.ts';

/** What an act showed. */
export interface Result {
  held: boolean;
  /** What was seen, in a few words. */
  seen: string;
  outputs?: Record<string, string>;
  /** Where the agent answers. */
  address?: string;
}

export interface Shown extends Result {
  title: string;
}

export interface Act {
  title: string;
  play: (environment: DemoEnvironment, screen: Screen, before: readonly Shown[]) => Promise<Result>;
}

const graph = 'src/graph.ts';
/** What the example answers, before and after it was made more cheerful. */
const answer = '${input}`';
const cheerful = '${input}!`';

/** The main job, in the order in which a team meets it. */
export const scenarios: readonly Act[] = [
  {
    title: 'the first deployment is live and answers',
    async play(environment, screen) {
      const step = await deploy(environment, screen, await environment.repository.head());
      const address = step.outputs['deployment-url'] ?? '';
      const said = address ? await requestsTo(address, environment.service).echo('world') : '';
      screen.line(`   input "world": "${said}"`);
      const held = isOutcome(step, 'deployed') && said === 'hello world';
      return { held, seen: `${step.outputs['outcome']}, it says "${said}"`, outputs: step.outputs, address };
    },
  },
  {
    title: 'a change is one revision, without downtime',
    async play(environment, screen, before) {
      const { id, address } = deployed(before);
      const revisions = await environment.revisionsOf(id);
      const agent = requestsTo(address, environment.service);
      await environment.repository.edit(graph, answer, cheerful);
      const commit = await environment.repository.commit('Be more cheerful');
      const asking = agent.keepAsking();
      const step = await deploy(environment, screen, commit);
      const said = await agent.echo('world');
      const { call, failed } = await asking.stop();
      const made = (await environment.revisionsOf(id)).length - revisions.length;
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
      const revisions = await environment.revisionsOf(id);
      const step = await deploy(environment, screen, await environment.repository.head());
      const made = (await environment.revisionsOf(id)).length - revisions.length;
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
      const said = await requestsTo(address, environment.service).echo('world');
      screen.line(`   input "world": "${said}"`);
      const hasLog = step.log.includes('graph');
      const held = step.exitCode === 1 && step.outputs['outcome'] === 'failed' && hasLog && said === 'hello world!';
      return { held, seen: `${step.outputs['outcome']}, still says "${said}"` };
    },
  },
  {
    title: 'a wrong answer is rolled back',
    async play(environment, screen, before) {
      const { address } = deployed(before);
      await environment.repository.edit(
        graph,
        'export const graph: unknown = undefined;\nexport const other =',
        'export const graph =',
      );
      await environment.repository.edit(graph, cheerful, 'wrong`');
      const commit = await environment.repository.commit('Lose the thread');
      const step = await deploy(environment, screen, commit, { 'on-failure': 'rollback' });
      const said = await requestsTo(address, environment.service).echo('world');
      screen.line(`   input "world": "${said}"`);
      const back = step.outputs['rolled-back-to'] ?? '';
      const held =
        step.exitCode === 1 && step.outputs['outcome'] === 'rolled-back' && back !== '' && said === 'hello world!';
      return { held, seen: `${step.outputs['outcome']}, says "${said}"` };
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

async function deploy(
  environment: DemoEnvironment,
  screen: Screen,
  commit: string,
  inputs: Readonly<Record<string, string>> = {},
): Promise<StepResult> {
  screen.line(`   commit ${commit.slice(0, 7)}, then the Action as a runner starts it:`);
  const step = await environment.deploy(commit, inputs, (line) => {
    // Commands to the runner, and expectations that held, would fill the screen.
    if (!/^(::|\s+ok )/.test(line)) screen.quote(`| ${line.replaceAll(`${environment.folder}/`, '')}`);
  });
  if (step.exitCode !== 0) screen.line(`   exit code ${step.exitCode}`);
  return step;
}

const isOutcome = ({ exitCode, outputs }: StepResult, outcome: string): boolean =>
  exitCode === 0 && outputs['outcome'] === outcome && outputs['smoke-verdict'] === 'passed';

function deployed(before: readonly Shown[]): { id: string; address: string } {
  const first = before[0];
  return { id: first?.outputs?.['deployment-id'] ?? '', address: first?.address ?? '' };
}

/** Calls a deployed agent as its clients do: at the deployment's address, with the service's key. */
interface AgentRequests {
  /** The answer to a request that goes well, read; with `body` a POST where no `method` is named. @throws Error otherwise. */
  ask<T>(path: string, shape: z.ZodType<T>, body?: object, method?: string): Promise<T>;
  /** Status and text of a POST, whatever they are. */
  send(path: string, body: object): Promise<{ status: number; text: string }>;
  /** One answer of the echo agent, by an assistant of it where one is named. @throws Error where there was none. */
  echo(input: string, assistant?: string): Promise<string>;
  /** Calls the echo agent repeatedly until stopped; `failed` lists the failed responses. */
  keepAsking(): { stop(): Promise<{ call: number; failed: string[] }> };
}

/** What a run of the echo agent ends with. */
export const echoed = z.looseObject({ output: z.string() });

/** @param address of the agent: the deployment's, which stays the same over all revisions. */
export function requestsTo(address: string, { apiKey }: Pick<LocalService, 'apiKey'>): AgentRequests {
  const request = async (method: string, path: string, body?: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, text: await response.text() };
  };
  const requests: AgentRequests = {
    async ask(path, shape, body, method = body ? 'POST' : 'GET') {
      const { status, text } = await request(method, path, body);
      if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 200)}`);
      return shape.parse(JSON.parse(text));
    },
    send: (path, body) => request('POST', path, body),
    async echo(input, assistant = 'echo') {
      const { output } = await requests.ask('/runs/wait', echoed, { assistant_id: assistant, input: { input } });
      return output;
    },
    keepAsking() {
      const seen = { call: 0, failed: [] as string[] };
      const stopped = new AbortController();
      const asking = (async () => {
        while (!stopped.signal.aborted) {
          seen.call += 1;
          try {
            await requests.echo('there');
          } catch (error) {
            seen.failed.push(error instanceof Error ? error.message : String(error));
          }
          await new Promise((resolve) => setTimeout(resolve, 100));
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
  return requests;
}
