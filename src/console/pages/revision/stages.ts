import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';

/** The stages of a rollout, in their order. */
const stageOf: Readonly<Record<string, string>> = {
  CREATING: 'Queued',
  QUEUED: 'Queued',
  AWAITING_BUILD: 'Queued',
  BUILDING: 'Building',
  AWAITING_DEPLOY: 'Deploying',
  DEPLOYING: 'Deploying',
};
const stageNames = ['Queued', 'Building', 'Deploying'] as const;

/** A stage with its time spans, in milliseconds since the first status. */
export interface Stage {
  name: string;
  /** More than one if the service was restarted in between. */
  spans: { from: number; to: number }[];
  totalMs: number;
  isRunning: boolean;
  /** Whether the rollout failed in it. */
  isFailed: boolean;
}

export interface Stages {
  stages: Stage[];
  /** From the first status to the end of the rollout, or until now. */
  totalMs: number;
  isRunning: boolean;
}

/** The stages of a rollout with their durations, from the statuses of the revision. */
export function toStages(statuses: readonly { status: string; at: string }[], now: number): Stages {
  const start = Date.parse(statuses[0]?.at ?? '');
  if (Number.isNaN(start)) return { stages: [], totalMs: 0, isRunning: false };
  const stages = stageNames.map((name): Stage => ({ name, spans: [], totalMs: 0, isRunning: false, isFailed: false }));
  let totalMs = 0;
  for (const [at, { status, at: since }] of statuses.entries()) {
    const stage = stages.find(({ name }) => name === stageOf[status]);
    if (!stage) continue;
    const next = statuses[at + 1];
    const from = Date.parse(since) - start;
    const to = Math.max(from, (next ? Date.parse(next.at) : now) - start);
    const last = stage.spans.at(-1);
    // Consecutive statuses of one stage are one span.
    if (last?.to === from) last.to = to;
    else stage.spans.push({ from, to });
    stage.totalMs += to - from;
    stage.isRunning = !next;
    stage.isFailed = next !== undefined && classOfRevisionStatus(next.status) === 'failed';
    totalMs = Math.max(totalMs, to);
  }
  const isRunning = classOfRevisionStatus(statuses.at(-1)?.status ?? '') === 'in-progress';
  return { stages: stages.filter(({ spans }) => spans.length > 0), totalMs, isRunning };
}
