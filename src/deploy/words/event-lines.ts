import { rollbackWords } from './rollback.ts';
import type { ReportedChange, ReportedPlan } from './plan.ts';
import { formatDecision } from '../../kit/statistics/sequential-test.ts';
import type { NamedVerdict, TestVerdict } from '../rules/verdict-types.ts';
import type { Outcome } from '../machine/outcome-types.ts';
import type { DeployEvent } from '../machine/deploy-event.ts';
import { comparedText } from './verdict-table/table.ts';
import { counted, durationText } from './verdict-table/words.ts';
import { asLine, asLogLine } from './sanitize.ts';
import { failedRollbackTitle } from './revision-ending.ts';

const short = (id: string): string => id.slice(0, 8);

/** What happens as lines of plain text, for a log or a terminal. An event that needs no line has none. */
export const eventLines = (event: DeployEvent): string[] => [linesOf(event)].flat();

const wasInterrupted: Record<Extract<DeployEvent, { kind: 'resumed' }>['state'], string> = {
  sending: 'while its change was sent',
  following: 'while its revision was followed',
  held: 'while its held revision was tested',
  deciding: 'before the decision about its held revision',
  decided: 'after the decision about its held revision',
  live: 'once its revision was live',
  restoring: 'before its rollback',
  returning: 'during its rollback',
};

function linesOf(event: DeployEvent): string | string[] {
  switch (event.kind) {
    case 'resumed':
      return `Going on with the deploy that was interrupted ${wasInterrupted[event.state]} at ${new Date(event.at).toISOString()}`;
    case 'looking':
      return `Looking for ${asLine(event.deployment, 100)}`;
    case 'looked':
      return event.deploymentId === undefined
        ? 'There is no such deployment yet'
        : `Found ${asLine(event.deploymentName ?? '', 100)} (${event.deploymentId}), active revision ${event.activeRevisionId ?? 'none'}`;
    case 'noted':
      return `Note: ${asLine(event.note, 1000)}`;
    case 'planned':
      return planLines(event.plan);
    case 'waiting-for-commit':
      return `Revision ${event.revisionId} does not report its commit yet: looking again`;
    case 'uploading':
      return `Uploading ${counted(event.files, 'file')}, ${event.size.toLocaleString('en')} bytes packed`;
    case 'upload-failed':
      return `The upload failed and is retried: ${asLine(event.why, 300)}`;
    case 'uploaded':
      return `Uploaded in ${durationText(event.ms)}`;
    case 'deleting':
      return `Deleting ${asLine(event.deploymentName, 100)} (${event.deploymentId}), ${event.withTracingProject ? 'and its tracing project' : 'without its tracing project'}`;
    case 'leaving':
      return `${durationText(event.sinceMs).padStart(10)}  ${asLine(event.status, 40)}, at most ${durationText(event.leftMs)} more`;
    case 'started':
      return `Revision ${event.revisionId} of deployment ${event.deploymentId}: ${event.how}`;
    case 'settling':
      return `${asLine(event.why, 500)}: checking whether it took effect`;
    case 'status':
      return `${durationText(event.sinceMs).padStart(10)}  ${asLine(event.status, 40)}${event.message ? `  ${asLine(event.message, 300)}` : ''}`;
    case 'heartbeat':
      return `${durationText(event.sinceMs).padStart(10)}  still ${asLine(event.status, 40)}, at most ${durationText(event.leftMs)} more`;
    case 'poll-failed':
      return `${' '.repeat(10)}  reading the revision failed and is retried: ${asLine(event.why, 300)}`;
    case 'decision-failed':
      return `${' '.repeat(10)}  recording the decision failed and is retried: ${asLine(event.why, 300)}`;
    case 'held':
      return `Revision ${event.revisionId} is healthy and held: it gets no traffic until it is promoted, and is discarded at ${event.endsAt}`;
    case 'hold-decided':
      return `Revision ${event.revisionId} is ${event.decision}: ${asLine(event.why, 500)}`;
    case 'measuring-live':
      return `Sending ${counted(event.tests, 'smoke test')} to the live revision ${event.revisionId} before the change`;
    case 'smoke-began':
      return `Sending ${counted(event.tests, 'smoke test')} to ${asLine(event.address, 200)}`;
    case 'smoke-attempt':
      if (!event.again) return [];
      if (event.verdict.rate) {
        const { right, answers } = event.verdict.rate;
        return `  ${asLine(event.name, 100)}: ${right} of ${answers} right so far`;
      }
      if (event.verdict.kind === 'unproven' && event.verdict.because === 'undecided') {
        // One answer alone has nothing to be compared with.
        return event.attempt === 1 ? [] : `  ${asLine(event.name, 100)}: ${asLine(event.verdict.why, 200)}`;
      }
      return `  ${asLine(event.name, 100)}: attempt ${event.attempt} ${attemptWords(event.verdict)}, retrying`;
    case 'smoke-tested':
      return testedLines(event.tested);
    case 'rolling-back':
      return `Rolling back to revision ${event.toRevisionId}: ${asLine(event.why, 500)}`;
    case 'rolled-back':
      return event.rollback.kind === 'done'
        ? `Revision ${event.rollback.toRevisionId} serves again`
        : `${failedRollbackTitle(event.rollback)}: ${asLine(rollbackWords(event.rollback).why, 500)}`;
    case 'rolled-out':
    case 'concluded':
      return [];
  }
}

/** The end in a few lines: outcome, sentence, advice, and the log lines of a failure. */
export function outcomeLines(outcome: Outcome): string[] {
  const { kind, reason, advice, logs, deploymentUrl, consolePage, activeRevisionId: serving } = outcome;
  return [
    ...(logs && logs.length > 0 ? ['The last log lines:', ...logs.map(({ message }) => asLogLine(message))] : []),
    `${kind}: ${asLine(reason, 2000)}`,
    ...(advice ? [`What to do: ${asLine(advice, 2000)}`] : []),
    ...(deploymentUrl ? [`Agent: ${asLine(deploymentUrl, 300)}${serving ? ` (revision ${short(serving)})` : ''}`] : []),
    ...(consolePage ? [`Console: ${consolePage}`] : []),
  ];
}

function planLines(plan: ReportedPlan): string[] {
  switch (plan.kind) {
    case 'none':
      return [`Plan: nothing to change, ${asLine(plan.why, 500)}`];
    case 'impossible':
      return [
        'Plan: impossible',
        ...plan.obstacles.map(
          ({ field, problem, advice }) => `  ${field}: ${asLine(problem, 500)}. ${asLine(advice, 500)}`,
        ),
      ];
    case 'create':
      return [
        'Plan: create the deployment',
        ...plan.changes.map(({ field, to }) => `  + ${field}: ${asLine(to ?? '', 120)}`),
      ];
    case 'patch':
      return [
        `Plan: patch, ${plan.makesRevision ? 'which makes a revision' : 'without a revision'}`,
        ...plan.changes.map(changeLine),
      ];
  }
}

function changeLine({ field, from, to, makesRevision, why }: ReportedChange): string {
  const value = (text: string | undefined): string => (text === undefined ? 'nothing' : asLine(text, 120));
  const change = from === to ? `${value(to)} again` : `${value(from)} -> ${value(to)}`;
  return `  ${field}: ${change}${makesRevision ? ' (makes a revision)' : ''}: ${asLine(why, 300)}`;
}

const attemptWords = (verdict: TestVerdict): string => {
  if (verdict.kind !== 'unproven') return verdict.kind;
  return `was not ${verdict.because === 'ungraded' ? 'graded' : 'answered'} (${asLine(verdict.why, 300)})`;
};

function testedLines({ name, attempts, verdict }: NamedVerdict): string[] {
  const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
  const title = `  ${asLine(name, 100)}: ${verdict.kind}${tries}`;
  const { rate, comparison } = verdict;
  const decided = rate ? [formatDecision(verdict.kind, rate)] : comparison ? [comparedText(comparison)] : [];
  if (verdict.kind === 'unproven') return [title, `    ${asLine(verdict.why, 500)}`];
  const first = verdict.firstEventMs === undefined ? '' : `first event ${durationText(verdict.firstEventMs)}, `;
  return [
    `${title} (${first}total ${durationText(verdict.totalMs)})`,
    ...decided.map((line) => `    ${line}`),
    ...verdict.held.map(
      ({ held, expected, seen, advises }) =>
        `    ${advises ? `advice, ${held ? 'ok' : 'no'}:` : held ? 'ok   ' : 'wrong'} ${asLine(expected, 200)}${held ? '' : `; saw ${asLine(seen, 300)}`}`,
    ),
  ];
}
