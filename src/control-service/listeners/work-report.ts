import * as z from 'zod';
import { workReport } from '../../contract/control/listener-work.ts';
import type { WorkReport } from '../../contract/control/listener-work.ts';
import { accepted, againstRules } from '../validation/refusal.ts';
import type { Judged } from '../validation/refusal.ts';
import { readBody } from '../validation/shape.ts';

/** The query of releasing a claim. */
export const releaseQuery = z.strictObject({ undone: z.boolean().optional() });

/** Parses a holder's report. A failure has a message, and the numbers of lines increase, so that each is stored once. */
export function readReport(body: unknown): Judged<WorkReport> {
  const read = readBody(workReport, body);
  if (!read.ok) return read;
  const { status, message, log } = read.value;
  if (status === 'DEPLOY_FAILED' && !message?.trim()) return againstRules(['message is required with DEPLOY_FAILED.']);
  const sequences = (log ?? []).map(({ sequence }) => sequence);
  const wrong = sequences.find((sequence, at) => at > 0 && sequence <= (sequences[at - 1] ?? 0));
  return wrong === undefined ? accepted(read.value) : againstRules([`log: the sequence ${wrong} does not grow.`]);
}
