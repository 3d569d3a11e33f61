import { stepsOn } from './steps/threads.ts';
import type { Row } from './check-runs.ts';
import type { SentRun } from './run-ledger.ts';
import type { Worker } from './worker.ts';

/** Faults in the steps on a client's threads: each step once, in the order of the runs. */
export async function problemsOfSteps(worker: Worker, rows: readonly Row[]): Promise<string[]> {
  const { runs, threads, copied, floors, byHand } = worker;
  const rowsByThread = Map.groupBy(rows, ({ thread_id }) => thread_id);
  const problems: string[] = [];
  const ids = new Set([...threads.sure(), ...runs.all.flatMap(({ threadId }) => threadId ?? [])]);
  for (const id of ids) {
    if (threads.ids().includes(id) && threads.get(id) === undefined) continue;
    const own = rowsByThread.get(id);
    if (own === undefined && threads.get(id) === undefined) continue;
    const steps = await stepsOn(worker, id);
    if (steps === undefined) return [`the state of thread ${id} could not be read`];
    const base = new Set(copied.get(id));
    const undone = new Set(runs.all.flatMap((run) => (run.mayBeUndone ? run.steps : [])));
    const floor = durable(floors.get(id) ?? copied.get(id) ?? []).filter((step) => !undone.has(step));
    const now = new Set(steps);
    const lost = floor.filter((step) => !now.has(step));
    if (lost.length > 0) problems.push(`thread ${id} had ${lost.join()} and has ${steps.join()}`);
    const sent = runs.all.filter(({ threadId }) => threadId === id);
    const written = byHand.filter(({ threadId }) => threadId === id);
    for (const problem of wrongSteps(
      steps.filter((step) => !base.has(step)),
      { sent, rows: own ?? [], written },
    ))
      problems.push(`thread ${id}: ${problem}; it has ${steps.join()}`);
  }
  return problems;
}

/**
 * The observed steps without the last one: a state shows a node's result before its step is complete, and if its run is
 * interrupted at that moment, the next run starts without it.
 */
const durable = (seen: readonly string[]): readonly string[] => seen.slice(0, -1);

interface Doers {
  sent: readonly SentRun[];
  rows: readonly Row[];
  written: readonly { step: string; isSure: boolean }[];
}

function wrongSteps(steps: readonly string[], { sent, rows, written }: Doers): string[] {
  const count = new Map([...Map.groupBy(steps, (step) => step)].map(([step, all]) => [step, all.length]));
  const times = (step: string): number => count.get(step) ?? 0;
  const byMark = new Map(rows.map((row) => [row.mark, row]));
  const problems: string[] = [];
  for (const run of sent) {
    const row = byMark.get(run.mark);
    for (const step of run.steps) {
      if (times(step) > 1) problems.push(`"${step}" is there ${times(step)} times`);
      if (row?.status === 'success' && times(step) === 0) problems.push(`"${step}" is missing`);
      if (row === undefined && !run.isDeleted && times(step) > 0) problems.push(`"${step}" is there without its run`);
    }
  }
  for (const { step, isSure } of written)
    if (times(step) > 1 || (isSure && times(step) === 0)) problems.push(`"${step}" is there ${times(step)} times`);
  const stepOf = new Map(sent.map((run) => [run.mark, run.steps.at(-1)]));
  const order = rows.flatMap(({ mark, status }) => (status === 'success' ? (stepOf.get(mark ?? '') ?? []) : []));
  const expected = new Set(order);
  const found = steps.filter((step) => expected.has(step));
  if (problems.length === 0 && found.join() !== order.join()) problems.push(`the runs were ${order.join()}`);
  return problems;
}
