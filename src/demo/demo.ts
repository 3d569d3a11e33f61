import { untilAborted } from '../kit/clock.ts';
import { messageOf, unlessCode } from '../kit/errors.ts';
import { scenarios, type CompletedScenario, type Scenario } from './scenarios.ts';
import { agentScenarios, cronScenario } from './agent-scenarios.ts';
import { appScenarios } from './app-scenarios.ts';
import { consoleScenario } from './console-scenarios.ts';
import { pythonScenarios } from './python-scenarios.ts';
import { Renderer } from './renderer.ts';
import { serviceScenarios } from './service-scenarios.ts';
import { startDemo, type DemoEnvironment } from './environment.ts';

export interface DemoOptions {
  /** The folder of this package. */
  root: string;
  /** Leave everything running at the end, until the process is stopped. */
  keep: boolean;
  write: (text: string) => void;
}

/**
 * First what a workflow does and what the agent's clients do with it, then what the App does, then what the control
 * service does by itself, then an agent in Python, then what a person does in a browser; last what a cron did all the
 * while.
 */
const programWith = (python: readonly Scenario[]): readonly Scenario[] => [
  ...scenarios,
  ...agentScenarios,
  ...appScenarios,
  ...serviceScenarios,
  ...python,
  consoleScenario,
  cronScenario,
];

/** Shows the main job on real parts, from nothing. Resolves to the exit code: 0 only where all of it held. */
export async function demo({ root, keep, write }: DemoOptions): Promise<number> {
  const screen = new Renderer(write);
  const started = performance.now();
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  screen.line('Landfall: an agent is deployed, changed, broken, rolled back, called, pushed and uploaded, all here.');
  screen.line('Starting GitHub, Postgres, the control service and its gateway ...');
  let environment: DemoEnvironment | undefined;
  const shown: CompletedScenario[] = [];
  let program: readonly Scenario[] = [];
  try {
    environment = await startDemo(root, 'echo-agent', keep);
    screen.line(`Ready at ${environment.service.url}; everything lies in ${environment.folder}`);
    program = programWith(await pythonScenarios(environment));
    for (const [index, { title, play }] of program.entries()) {
      if (stopped.signal.aborted) break;
      screen.act(index + 1, title);
      // What a step could not go on with, such as a build without network, is said above it.
      const result = await play(environment, screen, shown).catch((error: unknown) => {
        return { held: false, seen: messageOf(error) };
      });
      shown.push({ title, ...result });
      screen.line(`   ${result.held ? '=> ' : '=> DOES NOT HOLD: '}${result.seen}`);
      if (!result.held) break;
    }
    if (keep && !stopped.signal.aborted) await leaveOpen(environment, screen, shown, stopped.signal);
  } finally {
    screen.line();
    await environment?.clear((text) => screen.line(text));
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  const left = environment.pids.filter(isRunning);
  const seen =
    left.length === 0 ? `all ${environment.pids.length} processes have ended` : `process ${left.join(', ')} runs`;
  shown.push({ title: 'everything is gone again', held: left.length === 0, seen });
  screen.table(shown);
  const whole = program.length > 0 && shown.length === program.length + 1 && shown.every(({ held }) => held);
  const skipped = shown.filter(({ isSkipped }) => isSkipped).length;
  const all = skipped === 0 ? 'All of it held' : `All that could be tried held (${skipped} could not)`;
  screen.line();
  screen.line(`${whole ? all : 'Not all of it held'}, in ${Math.round((performance.now() - started) / 1000)} s.`);
  return whole ? 0 : 1;
}

const isRunning = (pid: number): boolean => unlessCode(['ESRCH'], false, () => process.kill(pid, 0));

async function leaveOpen(
  { service }: DemoEnvironment,
  screen: Renderer,
  shown: readonly CompletedScenario[],
  stopped: AbortSignal,
) {
  const address = shown.find((each) => each.address)?.address ?? service.url;
  for (const line of [
    '',
    'It stays open until Ctrl-C. Ask the agent, or look at its deployments:',
    '',
    `export KEY=${service.apiKey}`,
    `export AGENT=${address}`,
    `export CONTROL=${service.url}`,
    `ask() { printf 'x-api-key: %s\\n' "$KEY" | curl -sS -H @- -H 'content-type: application/json' "$@"; }`,
    `ask -d '{"assistant_id":"echo","input":{"input":"you"}}' $AGENT/runs/wait`,
    'ask $CONTROL/v2/deployments',
    '',
    `Open the console: ${service.signInLink} (valid once)`,
  ]) {
    screen.whole(line);
  }
  // A signal alone does not keep the process alive.
  const alive = setInterval(() => undefined, 60_000);
  await untilAborted(stopped);
  clearInterval(alive);
}
