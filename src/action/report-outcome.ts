import * as core from '@actions/core';
import { appendFile } from 'node:fs/promises';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { messageOf } from '../kit/errors.ts';
import { type Problem, formatProblem } from '../kit/diagnostics/problem.ts';
import { asLine, withoutCommands } from '../deploy/words/sanitize.ts';
import { outcomeLines, eventLines } from '../deploy/words/event-lines.ts';
import { summary } from '../deploy/words/summary.ts';
import { rolledBackTo, smokeTimes, toResultJson } from '../deploy/words/result-json.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';

type Phase = 'Look and plan' | 'Upload' | 'Rollout' | 'Smoke tests' | 'Rollback' | 'Deletion';

/** The group of the log that an event opens; every other event belongs to the group that is open. */
const opens: Partial<Record<DeployEvent['kind'], Phase>> = {
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
    const phase = opens[event.kind];
    // A rollback follows a revision and runs smoke tests too: these events stay in its group.
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

/** A runner shows ten annotations of a kind for a step; the last one is for the sentence that the step fails with. */
const annotationLimit = 9;

/**
 * Reports the outcome everywhere, and prints it first. Each further report fails alone, with a warning: the step ends
 * as the deploy did.
 */
export async function reportOutcome(outcome: Outcome, concluded: () => Promise<void>): Promise<void> {
  printOutcome(outcome);
  await unlessItFails('The outputs were not set', async () => setOutputs(outcome));
  await unlessItFails('The job summary was not written', () => writeSummary(outcome));
  await unlessItFails('GitHub was not told the outcome', concluded);
}

/** Prints the outcome, and fails the step if it does not pass. */
function printOutcome(outcome: Outcome): void {
  for (const line of outcomeLines(outcome)) print(line);
  if (!outcome.passes) {
    const advice = outcome.advice ? ` ${asLine(outcome.advice, 1000)}` : '';
    core.setFailed(`${outcome.kind}: ${asLine(outcome.reason, 1000).replace(/\.$/, '')}.${advice}`);
  }
}

async function unlessItFails(what: string, report: () => Promise<void>): Promise<void> {
  try {
    await report();
  } catch (error) {
    const why = asLine(messageOf(error), 300).replace(/\.$/, '');
    core.warning(`${what}: ${why}. The outcome is the one above; check that this step may write the runner's files.`);
  }
}

function setOutputs(outcome: Outcome): void {
  for (const [name, value] of Object.entries(outputsOf(outcome))) core.setOutput(name, value);
}

/** Writes the job summary; outside a runner there is no file for it. */
async function writeSummary(outcome: Outcome): Promise<void> {
  const file = process.env['GITHUB_STEP_SUMMARY'];
  if (file) await appendFile(file, summary(outcome));
}

/** Every problem as an annotation on its line, and one outcome for all. */
export function refuse(
  problems: readonly Problem[],
  advice = 'Correct what is named above; nothing was sent',
): Outcome {
  for (const [index, problem] of problems.entries()) {
    const { file, line, column, message, suggestion, field } = problem;
    const text = `${message}${suggestion ? `; did you mean \`${suggestion}\`?` : ''}`;
    if (index >= annotationLimit) print(asLine(formatProblem(problem), 1000));
    else if (file === 'input') core.error(text, { title: `Input ${field}` });
    else core.error(text, { title: field || file, file, startLine: line, startColumn: column });
  }
  const first = problems[0] ? formatProblem(problems[0]) : '';
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const places = new Set(problems.map(({ file }) => (file === 'input' ? 'the inputs' : file)));
  return {
    kind: 'refused',
    passes: false,
    reason: `${problems.length} ${problems.length === 1 ? 'thing is' : 'things are'} wrong in ${[...places].join(' and ')}: ${first}${more}`,
    advice: problems.some(({ message }) => message.includes('environment variable'))
      ? `${advice}. Variables come from \`env:\` of the step`
      : advice,
    changed: false,
    notes: problems.map(formatProblem),
  };
}

/** The Action's outputs by name (action.yml); what is not known is the empty string. */
export function outputsOf(outcome: Outcome): Record<string, string> {
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
    result: JSON.stringify(toResultJson(outcome)),
  };
}
