import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';

/** The prefix of the line in which `src/services/agent/prepare.ts` prints the outcome of importing graphs in Python. */
const importLinePrefix = 'landfall-import ';

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
/**
 * `code`: why a start would fail; `type`: the class of the error that the agent's code raised; `message`: for people.
 */
export type ImportOutcome = z.infer<typeof outcomeSchema>;

const maxTextLength = 3_000;

/** The outcome in one line, short enough that logs do not truncate it. */
export function importOutcomeLine(outcome: ImportOutcome): string {
  if (outcome.ok) return `${importLinePrefix}${JSON.stringify(outcome)}`;
  const { message, stack } = outcome;
  return `${importLinePrefix}${JSON.stringify({ ...outcome, message: message.slice(0, maxTextLength), stack: stack.slice(-maxTextLength) })}`;
}

export const readImportOutcome = (line: string): ImportOutcome | undefined =>
  line.startsWith(importLinePrefix)
    ? outcomeSchema.safeParse(fromJson(line.slice(importLinePrefix.length))).data
    : undefined;

/** Codes of failures that no environment variable of the deployment can fix. */
const fatalCodes = new Set([
  'graph-export-missing',
  'graph-file-missing',
  'graph-not-a-graph',
  'graph-module-missing',
  'graph-syntax',
]);
const fatalErrorTypes = new Set(['SyntaxError', 'IndentationError', 'TabError', 'ModuleNotFoundError', 'ImportError']);

/**
 * Why a start would fail too. Undefined for an error that the deployment's secrets may fix, because builds have no
 * secrets.
 */
export function importProblem(outcome: ImportOutcome): string | undefined {
  if (outcome.ok) return undefined;
  const { code, type, message } = outcome;
  const isConfigError = code === 'config-invalid' && type === undefined;
  return isConfigError || fatalCodes.has(code) || fatalErrorTypes.has(type ?? '') ? message : undefined;
}
