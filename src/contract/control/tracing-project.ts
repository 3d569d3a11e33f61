import * as z from 'zod';
import { pageQuery } from './pages.ts';
import { finalRunStatuses } from '../agent/run.ts';

// Tracing projects: the contract only says that each deployment gets one (docs/design/contract.md#deployments).

/** The token usage of a run, as far as its models reported it. */
export const tokenUsage = z.strictObject({
  input: z.int().min(0),
  output: z.int().min(0),
  total: z.int().min(0),
});
export type TokenUsage = z.infer<typeof tokenUsage>;

const text = (maxLength: number) => z.string().max(maxLength);
const time = z.iso.datetime({ offset: true });

/** The maximum number of exported steps of a run. */
export const maxTracedSteps = 200;

/**
 * One execution of a node; a retried node has several with the same id. Long values are truncated, hidden ones null.
 */
export const tracedStep = z.strictObject({
  id: text(255),
  name: text(255),
  /** The names of the enclosing subgraphs, outermost first; empty in the graph itself. */
  path: z.array(text(255)).max(20),
  started_at: time,
  ended_at: time.nullable(),
  input: z.unknown(),
  output: z.unknown(),
  error: text(10_000).nullable(),
  /** Whether `input`, `output` or `error` was cut. */
  is_cut: z.boolean(),
});
export type TracedStep = z.infer<typeof tracedStep>;

/** An ended run, exported by an agent server. */
export const tracedRun = z.strictObject({
  id: z.uuid(),
  thread_id: z.uuid().nullable(),
  assistant_id: text(255),
  graph_id: text(255),
  revision_id: text(255).nullable(),
  status: z.enum(finalRunStatuses),
  error: z.strictObject({ error: text(500), message: text(10_000) }).nullable(),
  /** Null if no message reports any. */
  tokens: tokenUsage.nullable(),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time,
  /** Truncated like those of a step. Agents of earlier versions send none of these four fields. */
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  /** The first steps in the order of their start, as seen by the process that ended the run. */
  steps: z.array(tracedStep).max(maxTracedSteps).optional(),
  /** Whether `input` or `output` was cut, or steps were left out. */
  is_cut: z.boolean().optional(),
  /** What started the run: `api`, `cron`, `playground`. Agents of earlier versions do not send it. */
  trigger: text(40).nullable().optional(),
});
export type TracedRun = z.infer<typeof tracedRun>;

const maxTracedRuns = 100;
/** The body of POST /v1/projects/{id}/runs: ended runs. A repeated one changes nothing. */
export const tracedRunsReport = z.strictObject({ runs: z.array(tracedRun).min(1).max(maxTracedRuns) });

export const tracedRunsReceipt = z.looseObject({ taken: z.int() });

/** A tracing project: has its deployment's name, and may outlive the deployment. */
export const tracingProject = z.looseObject({
  id: z.string(),
  name: z.string(),
  deployment_id: z.string().nullable(),
  created_at: z.string(),
  run_count: z.int(),
  /** When its latest run ended; null if there is none. */
  last_run_at: z.string().nullable(),
});
export type TracingProject = z.infer<typeof tracingProject>;
export const tracingProjectsList = z.looseObject({ resources: z.array(tracingProject), offset: z.int() });
export type TracingProjectsList = z.infer<typeof tracingProjectsList>;

export const tracingProjectsQuery = pageQuery.extend({
  name: z.string().optional(),
  name_contains: z.string().optional(),
});
export type TracingProjectsQuery = z.infer<typeof tracingProjectsQuery>;

export const tracedRunResponse = z.looseObject({
  ...tracedRun.shape,
  id: z.string(),
  status: z.string(),
  /** The start of the input and of the output as one line; null if there is none, or it was hidden. */
  input_preview: z.string().nullish(),
  output_preview: z.string().nullish(),
});
export type TracedRunResponse = z.infer<typeof tracedRunResponse>;
export const tracedRunsList = z.looseObject({ resources: z.array(tracedRunResponse), offset: z.int() });
export type TracedRunsList = z.infer<typeof tracedRunsList>;

export const tracedRunsQuery = pageQuery.extend({
  /** Statuses, separated by commas. */
  status: z.string().optional(),
  assistant_id: z.string().optional(),
  thread_id: z.uuid().optional(),
  revision_id: z.string().optional(),
  /** Runs that ended from this time on. */
  from: time.optional(),
  /** Runs that ended before this time. */
  until: time.optional(),
  /** A text in the name or the message of the error, in any case. */
  query: z.string().min(1).max(500).optional(),
});
