import type { Clock } from '../kit/clock.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import { durationText } from '../deploy/words/verdict-table/words.ts';
import { asLine } from '../deploy/words/sanitize.ts';

/** What is going on right now, and since when (ms since the epoch). */
export interface Activity {
  text: string;
  since: number;
}

/** What is going on after an event; what was going on before where the event says nothing of it, undefined for nothing. */
export function activityAfter(event: DeployEvent, before: Activity | undefined, now: number): Activity | undefined {
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
      return event.again ? testing(event, before?.since ?? now) : before;
    case 'rolling-back':
      return { text: `Going back to revision ${event.toRevisionId.slice(0, 8)}`, since: now };
    case 'rolled-out':
    case 'rolled-back':
    case 'concluded':
      return undefined;
    default:
      return before;
  }
}

/** A test that goes on: the answers so far, where they are counted. */
function testing({ name, attempt, verdict }: Extract<DeployEvent, { kind: 'smoke-attempt' }>, since: number): Activity {
  const test = `Testing ${asLine(name, 60)}`;
  if (verdict.rate) {
    const { right, answers } = verdict.rate;
    return { text: `${test}: ${right} of ${answers} answers right`, since };
  }
  const isCounted = verdict.kind === 'unproven' && verdict.because === 'undecided';
  return { text: isCounted ? `${test}: ${asLine(verdict.why, 80)}` : `${test}, attempt ${attempt + 1}`, since };
}

/** A line at the end of a terminal that says what is going on and for how long. Lines that are printed go above it. */
export interface LiveLine {
  /** Shows what is going on; nothing where it is undefined. */
  show(activity: Activity | undefined): void;
  /** Writes something above the line. */
  above(write: () => void): void;
  /** Removes the line. */
  end(): void;
}

/** Without a terminal: prints lines, and shows no spinner. */
export const noLiveLine: LiveLine = { show: () => undefined, above: (write) => write(), end: () => undefined };

/** A terminal, as far as a moving line needs one. */
export type LiveStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** The live line of a terminal, or none where the stream is no terminal, or one of a build machine. */
export async function liveLineOn(
  stream: LiveStream,
  { clock, mask, env }: { clock: Pick<Clock, 'now'>; mask: (text: string) => string; env: NodeJS.ProcessEnv },
): Promise<LiveLine> {
  // A terminal without a known width would be treated as infinitely wide.
  if (!stream.isTTY || stream.columns === 0 || env['CI'] || env['TERM'] === 'dumb') return noLiveLine;
  const { default: ora } = await import('ora');
  const spinner = ora({ stream, discardStdin: false, isEnabled: true });
  let shown: Activity | undefined;
  const draw = (): void => {
    if (!shown) return;
    spinner.text = mask(`${shown.text}, ${durationText(clock.now() - shown.since)}`);
  };
  const timer = setInterval(draw, 1000);
  timer.unref();
  const show = (activity: Activity | undefined): void => {
    shown = activity;
    draw();
    if (activity && !spinner.isSpinning) spinner.start();
    else if (!activity && spinner.isSpinning) spinner.stop();
  };
  return {
    show,
    above(write) {
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
