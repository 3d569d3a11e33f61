import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';

/** How a line begins that says how the import of graphs in Python went, in the output of `src/services/agent/prepare.ts`. */
const importLine = 'landfall-import ';

const outcomeSchema = z.union([
  z.object({ ok: z.literal(true), graphs: z.array(z.string()) }),
  z.object({
    ok: z.literal(false),
    code: z.string(),
    type: z.string().optional(),
    message: z.string(),
    stack: z.string(),
  }),
]);
/** `code`: why a start fails; `type`: the error that the agent's code raised; `message`: sentences for a person. */
export type ImportOutcome = z.infer<typeof outcomeSchema>;

const most = 3_000;

/** The outcome in one line, which logs do not cut. */
export function importOutcomeLine(outcome: ImportOutcome): string {
  if (outcome.ok) return `${importLine}${JSON.stringify(outcome)}`;
  const { message, stack } = outcome;
  return `${importLine}${JSON.stringify({ ...outcome, message: message.slice(0, most), stack: stack.slice(-most) })}`;
}

export const readImportOutcome = (line: string): ImportOutcome | undefined =>
  line.startsWith(importLine) ? outcomeSchema.safeParse(fromJson(line.slice(importLine.length))).data : undefined;

/** Why a start fails for code that no variable of the deployment mends. */
const certain = new Set([
  'graph-export-missing',
  'graph-file-missing',
  'graph-not-a-graph',
  'graph-module-missing',
  'graph-syntax',
]);
const inCode = new Set(['SyntaxError', 'IndentationError', 'TabError', 'ModuleNotFoundError', 'ImportError']);

/**
 * Why a start would fail as well. Undefined for an error that the deployment's secrets may mend: builds have none of
 * them.
 */
export function importProblem(outcome: ImportOutcome): string | undefined {
  if (outcome.ok) return undefined;
  const { code, type, message } = outcome;
  const isOfFile = code === 'config-invalid' && type === undefined;
  return isOfFile || certain.has(code) || inCode.has(type ?? '') ? message : undefined;
}
