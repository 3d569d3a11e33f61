import * as z from 'zod';
import { toPlainNumber } from '../../../../kit/exact-number.ts';

/** An error of the agent as the worker sends it, with what caused it. */
export const errorShape = z.object({
  type: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  code: z.string().optional(),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  get cause(): z.ZodOptional<typeof errorShape> {
    return errorShape.optional();
  },
});
export type WorkerErrorShape = z.infer<typeof errorShape>;
/** Numbers of the protocol, not the agent's data. */
export const plainNumber = z.preprocess(toPlainNumber, z.number());
export const plainInteger = z.preprocess(toPlainNumber, z.int());

/** The headers of what a worker sends (docs/design/python-worker.md#frames). */
export const headers = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('hello'),
    protocol: z.int(),
    python: z.string(),
    engine: z.string().nullable(),
  }),
  z.object({ kind: z.literal('ask'), id: z.int(), of: z.int(), op: z.string(), args: z.unknown() }),
  z.object({ kind: z.literal('tell'), of: z.int(), op: z.string(), args: z.unknown() }),
  z.object({ kind: z.literal('event'), id: z.int(), value: z.unknown() }),
  z.object({ kind: z.literal('done'), id: z.int(), value: z.unknown() }),
  z.object({ kind: z.literal('failed'), id: z.int(), error: errorShape }),
  z.object({ kind: z.literal('beat'), of: z.enum(['process', 'loop']), memory: z.int() }),
  z.object({
    kind: z.literal('blocked'),
    seconds: plainNumber,
    node: z.string().nullable(),
    place: z.string(),
    stack: z.string(),
  }),
  z.object({
    kind: z.literal('log'),
    level: z.enum(['error', 'warn', 'info']),
    logger: z.string(),
    message: z.string(),
    run_id: z.string().nullish(),
    thread_id: z.string().nullish(),
    node: z.string().nullish(),
  }),
]);
export type Header = z.infer<typeof headers>;
/** What a worker says of itself, unasked. */
export type Sign = Extract<Header, { kind: 'beat' | 'blocked' | 'log' }>;
/** The first that a worker sends. */
export type Hello = Extract<Header, { kind: 'hello' }>;
