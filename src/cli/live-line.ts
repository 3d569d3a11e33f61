import type { Clock } from '../kit/clock.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import { durationText } from '../deploy/words/verdict-table/words.ts';
import { asLine } from '../deploy/words/sanitize.ts';

/** The current activity, and its start (ms since the epoch). */
export interface Activity {
  text: string;
  since: number;
}

/** The activity after an event: a new one, the previous one if the event does not change it, or undefined for none. */
export function nextActivity(event: DeployEvent, previous: Activity | undefined, now: number): Activity | undefined {
  switch (event.kind) {
    case 'looking':
      return { text: `Looking for ${asLine(event.deployment, 60)}`, since: now };
    case 'started':
      return { text: `Revision ${event.revisionId.slice(0, 8)} is on its way`, since: now };
    case 'status':
      return { text: `Revision ${event.revisionId.slice(0, 8)} ${asLine(event.status, 40)}`, since: now };
    case 'uploading':
      return { text: 'Uploading', since: now };
    case 'uploaded':
      return undefined;
    case 'deleting':
      return { text: `Deleting ${asLine(event.deploymentName, 60)}`, since: now };
    case 'settling':
      return { text: 'Checking whether the request took effect', since: now };
    case 'measuring-live':
      return { text: 'Testing the live revision before the change', since: now };
    case 'smoke-began':
      return { text: 'Testing the agent', since: now };
    case 'smoke-attempt':
      return event.again ? testActivity(event, previous?.since ?? now) : previous;
    case 'rolling-back':
      return { text: `Going back to revision ${event.toRevisionId.slice(0, 8)}`, since: now };
    case 'rolled-out':
    case 'rolled-back':
    case 'concluded':
      return undefined;
    default:
      return previous;
  }
}

/** The activity of a running test, with the number of answers if they are counted. */
function testActivity(
  { name, attempt, verdict }: Extract<DeployEvent, { kind: 'smoke-attempt' }>,
  since: number,
): Activity {
  const test = `Testing ${asLine(name, 60)}`;
  if (verdict.rate) {
    const { right, answers } = verdict.rate;
    return { text: `${test}: ${right} of ${answers} answers right`, since };
  }
  const isCounted = verdict.kind === 'unproven' && verdict.because === 'undecided';
  return { text: isCounted ? `${test}: ${asLine(verdict.why, 80)}` : `${test}, attempt ${attempt + 1}`, since };
}

/** The last line of a terminal, which shows the current activity and its duration. Other lines are printed above it. */
export interface LiveLine {
  /** Shows an activity, or clears the line. */
  show(activity: Activity | undefined): void;
  /** Writes something above the line. */
  writeAbove(write: () => void): void;
  /** Removes the line. */
  end(): void;
}

/** Used without a terminal: shows nothing. */
export const noLiveLine: LiveLine = { show: () => undefined, writeAbove: (write) => write(), end: () => undefined };

/** The stream of a terminal. */
export type LiveStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** Creates the live line of a terminal. Shows nothing if the stream is not a terminal, or on a CI machine. */
export async function createLiveLine(
  stream: LiveStream,
  { clock, mask, env }: { clock: Pick<Clock, 'now'>; mask: (text: string) => string; env: NodeJS.ProcessEnv },
): Promise<LiveLine> {
  // A terminal without a known width would be treated as infinitely wide.
  if (!stream.isTTY || stream.columns === 0 || env['CI'] || env['TERM'] === 'dumb') return noLiveLine;
  const { default: ora } = await import('ora');
  const spinner = ora({ stream, discardStdin: false, isEnabled: true });
  let current: Activity | undefined;
  const draw = (): void => {
    if (!current) return;
    spinner.text = mask(`${current.text}, ${durationText(clock.now() - current.since)}`);
  };
  const timer = setInterval(draw, 1000);
  timer.unref();
  const show = (activity: Activity | undefined): void => {
    current = activity;
    draw();
    if (activity && !spinner.isSpinning) spinner.start();
    else if (!activity && spinner.isSpinning) spinner.stop();
  };
  return {
    show,
    writeAbove(write) {
      if (spinner.isSpinning) spinner.clear();
      write();
      if (spinner.isSpinning) spinner.render();
    },
    end() {
      clearInterval(timer);
      show(undefined);
    },
  };
}
