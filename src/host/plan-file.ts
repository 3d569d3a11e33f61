import { createHash, createHmac, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import { readSavedPlan, type SavedPlan } from '../deploy/file/saved-plan.ts';
import type { PlanBinding } from '../deploy/machine/bind-plan.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { messageOf, unlessCode, missingCodes } from '../kit/errors.ts';
import { addressOf } from '../kit/base-address.ts';
import { version } from '../kit/version.ts';
import { readTextFile } from './workspace.ts';
import { writeWhole } from './written-files.ts';

/** A plan that a run writes, or is bound to. */
export interface OpenedPlan {
  binding: PlanBinding;
  /** Writes the plan that was made. A plan that can't be written makes the run fail: it is what was asked for. */
  conclude: (outcome: Outcome, emit: (event: DeployEvent) => void) => Promise<Outcome>;
}

/** The largest plan, in bytes. */
const maxPlanBytes = 1024 * 1024;

/** Opens the plan file of a run; undefined where it has none. */
export function openPlan(
  options: EntryOptions,
): { ok: true; plan?: OpenedPlan | undefined } | { ok: false; problem: Problem } {
  const { planPath: path, mode, dryRun, baseUrl, tenantId, apiKey = '' } = options;
  if (path === undefined) return { ok: true };
  const common = {
    service: addressOf(baseUrl),
    tenantId,
    digest: (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32),
    keyed: (text: string) => createHmac('sha256', apiKey).update(text).digest('hex').slice(0, 32),
  };
  // A dry run writes nothing: it says whether the plan would be applied.
  if (mode === 'plan' && !dryRun) return { ok: true, plan: writtenPlan(path, common) };
  const saved = readPlan(path);
  if (typeof saved === 'string') return { ok: false, problem: inputProblem('plan-file', `${path} ${saved}`) };
  return { ok: true, plan: { binding: { ...common, saved }, conclude: async (outcome) => outcome } };
}

function writtenPlan(path: string, common: Omit<PlanBinding, 'keep' | 'saved'>): OpenedPlan {
  let made: SavedPlan | undefined;
  const keep: PlanBinding['keep'] = (facts) => {
    const madeAt = new Date().toISOString();
    made = { type: 'urn:landfall:plan:v1', id: randomUUID(), made_at: madeAt, landfall_version: version, ...facts };
  };
  return {
    binding: { ...common, keep },
    conclude: async (outcome, emit) => {
      if (!made || outcome.kind !== 'planned') return outcome;
      try {
        await writeWhole(path, `${JSON.stringify(made, null, 2)}\n`, 0o644);
        const note = `the plan was written to ${path}`;
        emit({ kind: 'noted', note });
        return { ...outcome, notes: [...outcome.notes, note] };
      } catch (error) {
        const reason = `The plan was made, and could not be written: ${messageOf(error)}.`;
        return { ...outcome, kind: 'failed', passes: false, reason, advice: 'Name a plan-file that can be written.' };
      }
    },
  };
}

/** The plan in a file, or what is wrong with the file. */
function readPlan(path: string): SavedPlan | string {
  const found = unlessCode(missingCodes, undefined, () => statSync(path));
  const read = found?.isFile() && found.size <= maxPlanBytes ? readTextFile(path) : undefined;
  if (!found || read?.kind === 'absent')
    return 'is not there: make the plan first, with the same plan-file (mode: plan, or landfall plan)';
  if (read?.kind === 'unreadable') return `is not a plan: ${read.problem.message}`;
  const saved = read && readSavedPlan(read.text);
  return saved ?? 'is not a plan that this version of Landfall wrote: make it again (mode: plan, or landfall plan)';
}
