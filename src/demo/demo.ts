import { untilAborted } from '../kit/clock.ts';
import { messageOf, unlessCode } from '../kit/errors.ts';
import { scenarios, type CompletedScenario, type Scenario } from './scenarios.ts';
import { actionPreviewScenario } from './action-preview-scenario.ts';
import { afterChecksScenario } from './after-checks-scenario.ts';
import { agentScenarios, cronScenario } from './agent-scenarios.ts';
import { appPreviewScenario } from './app-preview-scenario.ts';
import { appPromotionScenario } from './app-promotion-scenario.ts';
import { appScenarios } from './app-scenarios.ts';
import { commandScenario } from './command-scenario.ts';
import { commentScenario } from './comment-scenario.ts';
import { consoleScenario } from './console-scenarios.ts';
import { pythonScenarios } from './python-scenarios.ts';
import { Renderer } from './renderer.ts';
import { keylessScenario } from './keyless-scenario.ts';
import { promotionScenario } from './promotion-scenario.ts';
import { serviceScenarios, uploadScenario } from './service-scenarios.ts';
import { planScenario } from './plan-scenario.ts';
import { startDemo, type DemoEnvironment } from './environment.ts';

export interface DemoOptions {
  /** The folder of this package. */
  root: string;
  /** Leave everything running at the end, until the process is stopped. */
  keepRunning: boolean;
  write: (text: string) => void;
}

/**
 * All scenarios in order: the Action, clients of the agent, the App, the control service, an agent in Python, the
 * console, and last the cron that has been running meanwhile.
 */
const allScenarios = (python: readonly Scenario[]): readonly Scenario[] => [
  ...scenarios,
  ...agentScenarios,
  actionPreviewScenario,
  commandScenario,
  ...appScenarios,
  appPreviewScenario,
  commentScenario,
  afterChecksScenario,
  appPromotionScenario,
  uploadScenario,
  keylessScenario,
  promotionScenario,
  ...serviceScenarios,
  planScenario,
  ...python,
  consoleScenario,
  cronScenario,
];

/** Runs all scenarios against real services. Returns the exit code: 0 only if every claim was proven. */
export async function demo({ root, keepRunning, write }: DemoOptions): Promise<number> {
  const screen = new Renderer(write);
  const started = performance.now();
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  screen.line('Landfall: an agent is deployed, changed, broken, rolled back, called, pushed and uploaded, all here.');
  screen.line('Starting GitHub, Postgres, the control service and its gateway ...');
  let environment: DemoEnvironment | undefined;
  const completed: CompletedScenario[] = [];
  let program: readonly Scenario[] = [];
  try {
    environment = await startDemo(root, 'echo-agent', keepRunning);
    screen.line(`Ready at ${environment.service.url}; everything lies in ${environment.folder}`);
    program = allScenarios(await pythonScenarios(environment));
    for (const [index, { title, play }] of program.entries()) {
      if (stopped.signal.aborted) break;
      screen.heading(index + 1, title);
      // The output above already shows why a step failed, such as a build without network.
      const result = await play(environment, screen, completed).catch((error: unknown) => {
        return { isProven: false, summary: messageOf(error) };
      });
      completed.push({ title, ...result });
      screen.line(`   ${result.isProven ? '=> ' : '=> DOES NOT HOLD: '}${result.summary}`);
      if (!result.isProven) break;
    }
    if (keepRunning && !stopped.signal.aborted) await leaveOpen(environment, screen, completed, stopped.signal);
  } finally {
    screen.line();
    await environment?.removeAll((text) => screen.line(text));
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  const stillRunning = environment.pids.filter(isRunning);
  const summary =
    stillRunning.length === 0
      ? `all ${environment.pids.length} processes have ended`
      : `process ${stillRunning.join(', ')} runs`;
  completed.push({ title: 'everything is gone again', isProven: stillRunning.length === 0, summary });
  screen.table(completed);
  const allProven =
    program.length > 0 && completed.length === program.length + 1 && completed.every(({ isProven }) => isProven);
  const skipped = completed.filter(({ isSkipped }) => isSkipped).length;
  const verdict = skipped === 0 ? 'All of it held' : `All that could be tried held (${skipped} could not)`;
  screen.line();
  screen.line(
    `${allProven ? verdict : 'Not all of it held'}, in ${Math.round((performance.now() - started) / 1000)} s.`,
  );
  return allProven ? 0 : 1;
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
    screen.unwrapped(line);
  }
  // A signal alone does not keep the process alive.
  const alive = setInterval(() => undefined, 60_000);
  await untilAborted(stopped);
  clearInterval(alive);
}
