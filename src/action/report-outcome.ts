import * as core from '@actions/core';
import { appendFile } from 'node:fs/promises';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { messageOf } from '../kit/errors.ts';
import { type Problem, formatProblem } from '../kit/diagnostics/problem.ts';
import { asLine, withoutCommands } from '../deploy/words/sanitize.ts';
import { outcomeLines, eventLines } from '../deploy/words/event-lines.ts';
import { summary } from '../deploy/words/summary.ts';
import { rolledBackTo, smokeTimes, toResultJson } from '../deploy/words/result-json.ts';
import type { ReceiptFiles } from './receipt-target.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';

type Phase = 'Look and plan' | 'Upload' | 'Rollout' | 'Smoke tests' | 'Rollback' | 'Deletion';

/** The log group that an event opens; every other event belongs to the open group. */
const phaseByEvent: Partial<Record<DeployEvent['kind'], Phase>> = {
  looking: 'Look and plan',
  uploading: 'Upload',
  deleting: 'Deletion',
  started: 'Rollout',
  'smoke-began': 'Smoke tests',
  'rolling-back': 'Rollback',
};

/** Prints text so that no line of it can act as a command to the runner. */
export const print = (text: string): void => core.info(withoutCommands(text));

/** Prints the progress of a deploy run, in log groups. */
export class Progress {
  #open: Phase | undefined;

  readonly emit = (event: DeployEvent): void => {
    const phase = phaseByEvent[event.kind];
    // A rollback also has a rollout and smoke tests; their events stay in its group.
    if (phase && phase !== this.#open && this.#open !== 'Rollback') {
      this.close();
      core.startGroup(phase);
      this.#open = phase;
    }
    for (const line of eventLines(event)) print(line);
  };

  close(): void {
    if (this.#open) core.endGroup();
    this.#open = undefined;
  }
}

/** A runner shows ten annotations of a kind per step; the last one is for the message that the step fails with. */
const maxAnnotations = 9;

/**
 * Prints the outcome, then reports it everywhere else. A failed report is only a warning: the step ends as the deploy
 * did.
 */
export async function reportOutcome(
  outcome: Outcome,
  receipt: ReceiptFiles | undefined,
  finish: () => Promise<void>,
): Promise<void> {
  printOutcome(outcome);
  await warnOnFailure('The outputs were not set', async () => setOutputs(outcome, receipt));
  await warnOnFailure('The job summary was not written', () => writeSummary(outcome));
  await warnOnFailure('GitHub was not told the outcome', finish);
}

/** Prints the outcome, and fails the step if it does not pass. */
function printOutcome(outcome: Outcome): void {
  for (const line of outcomeLines(outcome)) print(line);
  if (!outcome.passes) {
    const advice = outcome.advice ? ` ${asLine(outcome.advice, 1000)}` : '';
    core.setFailed(`${outcome.kind}: ${asLine(outcome.reason, 1000).replace(/\.$/, '')}.${advice}`);
  }
}

async function warnOnFailure(what: string, report: () => Promise<void>): Promise<void> {
  try {
    await report();
  } catch (error) {
    const reason = asLine(messageOf(error), 300).replace(/\.$/, '');
    core.warning(
      `${what}: ${reason}. The outcome is the one above; check that this step may write the runner's files.`,
    );
  }
}

function setOutputs(outcome: Outcome, receipt: ReceiptFiles | undefined): void {
  for (const [name, value] of Object.entries(outputsOf(outcome, receipt))) core.setOutput(name, value);
}

/** Writes the job summary; outside a runner there is no file for it. */
async function writeSummary(outcome: Outcome): Promise<void> {
  const file = process.env['GITHUB_STEP_SUMMARY'];
  if (file) await appendFile(file, summary(outcome));
}

/** Annotates every problem on its line, and returns one outcome for all. */
export function refuse(
  problems: readonly Problem[],
  advice = 'Correct what is named above; nothing was sent',
): Outcome {
  for (const [index, problem] of problems.entries()) {
    const { file, line, column, message, suggestion, field } = problem;
    const text = `${message}${suggestion ? `; did you mean \`${suggestion}\`?` : ''}`;
    if (index >= maxAnnotations) print(asLine(formatProblem(problem), 1000));
    else if (file === 'input') core.error(text, { title: `Input ${field}` });
    else core.error(text, { title: field || file, file, startLine: line, startColumn: column });
  }
  const first = problems[0] ? formatProblem(problems[0]) : '';
  const moreNote = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const sources = new Set(problems.map(({ file }) => (file === 'input' ? 'the inputs' : file)));
  return refusal(
    `${problems.length} ${problems.length === 1 ? 'thing is' : 'things are'} wrong in ${[...sources].join(' and ')}: ${first}${moreNote}`,
    problems.some(({ message }) => message.includes('environment variable'))
      ? `${advice}. Variables come from \`env:\` of the step`
      : advice,
    problems.map(formatProblem),
  );
}

/** The outcome of a step that sent nothing. */
export const refusal = (reason: string, advice: string, notes: readonly string[] = []): Outcome => ({
  kind: 'refused',
  passes: false,
  reason,
  advice,
  changed: false,
  notes,
});

/** The Action's outputs by name (action.yml); unknown ones are empty strings. */
export function outputsOf(outcome: Outcome, receipt?: ReceiptFiles): Record<string, string> {
  const { firstEventMs, totalMs } = smokeTimes(outcome);
  return {
    'deployment-id': outcome.deploymentId ?? '',
    'revision-id': outcome.revisionId ?? '',
    'active-revision-id': outcome.activeRevisionId ?? '',
    'deployment-url': outcome.deploymentUrl ?? '',
    outcome: outcome.kind,
    reason: outcome.reason,
    plan: outcome.plan?.kind ?? '',
    changed: String(outcome.changed),
    'smoke-verdict': outcome.verdict?.kind ?? 'none',
    'first-event-ms': firstEventMs === undefined ? '' : String(firstEventMs),
    'total-ms': totalMs === undefined ? '' : String(totalMs),
    'rolled-back-to': rolledBackTo(outcome) ?? '',
    receipt: receipt?.path ?? '',
    'receipt-predicate': receipt?.predicatePath ?? '',
    command: outcome.command?.name ?? '',
    'command-outcome': outcome.command?.code ?? '',
    result: JSON.stringify(toResultJson(outcome)),
  };
}
