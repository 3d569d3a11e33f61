import * as z from 'zod';
import { RunCreate, RunsCancel } from '../../contract/agent/run.ts';
import type { Operation } from './operation.ts';
import { cancelManyQuery, cancelQuery, followQuery, joinQuery, runsQuery } from './queries.ts';
import { runResultResponse, runResponse } from './responses.ts';

/** The request to start a run on a thread. */
export const statefulRun = RunCreate.omit({ on_completion: true });
/** The request to start a stateless run. */
export const statelessRun = RunCreate.omit({ checkpoint: true, if_not_exists: true, multitask_strategy: true });
/** A batch of stateless runs. */
export const runBatch = z.array(statelessRun).min(1);

const all = '/threads/{thread_id}/runs';
const one = `${all}/{run_id}`;
const onThread = 'Thread Runs';
const alone = 'Stateless Runs';

const events = {
  description: 'Server-sent events; the first is `metadata` with the run’s id.',
  type: 'text/event-stream',
};
const result = { description: 'The state after the run, or its error.', schema: runResultResponse };
const starting = [400, 404, 409, 413, 422] as const;
const looking = [404, 422] as const;

/** Runs, on a thread and stateless. */
export const runOperations: readonly Operation[] = [
  {
    method: 'get',
    path: all,
    id: 'list_runs',
    summary: 'List the runs of a thread',
    description: 'Newest first.',
    tag: onThread,
    query: runsQuery,
    answers: { 200: { description: 'A page of runs.', schema: z.array(runResponse) } },
    errors: looking,
  },
  {
    method: 'post',
    path: all,
    id: 'create_run',
    summary: 'Start a run in the background',
    tag: onThread,
    body: { schema: statefulRun, required: true },
    answers: { 200: { description: 'The pending run.', schema: runResponse } },
    errors: starting,
  },
  {
    method: 'post',
    path: `${all}/stream`,
    id: 'stream_run',
    summary: 'Start a run and stream its events',
    tag: onThread,
    body: { schema: statefulRun, required: true },
    answers: { 200: events },
    errors: starting,
  },
  {
    method: 'post',
    path: `${all}/wait`,
    id: 'wait_run',
    summary: 'Start a run and wait for its end',
    description: 'Newlines keep the connection alive until the JSON is ready.',
    tag: onThread,
    body: { schema: statefulRun, required: true },
    answers: { 200: result },
    errors: starting,
  },
  {
    method: 'get',
    path: one,
    id: 'get_run',
    summary: 'Read a run',
    tag: onThread,
    answers: { 200: { description: 'The run.', schema: runResponse } },
    errors: looking,
  },
  {
    method: 'delete',
    path: one,
    id: 'delete_run',
    summary: 'Delete an ended run',
    tag: onThread,
    answers: { 204: { description: 'Deleted.' } },
    errors: [404, 409, 422],
  },
  {
    method: 'get',
    path: `${one}/join`,
    id: 'join_run',
    summary: 'Wait for an existing run',
    tag: onThread,
    query: joinQuery,
    answers: { 200: result },
    errors: looking,
  },
  {
    method: 'get',
    path: `${one}/stream`,
    id: 'join_run_stream',
    summary: 'Stream the events of an existing run',
    tag: onThread,
    query: followQuery,
    headers: ['lastEventId'],
    answers: { 200: events },
    errors: looking,
  },
  {
    method: 'post',
    path: `${one}/cancel`,
    id: 'cancel_run',
    summary: 'Cancel a run',
    tag: onThread,
    query: cancelQuery,
    answers: {
      202: { description: 'The run will end.' },
      204: { description: 'The run has ended.' },
    },
    errors: [404, 409, 422],
  },
  {
    method: 'post',
    path: '/runs/cancel',
    id: 'cancel_runs',
    summary: 'Cancel several runs',
    description: 'Selected by thread and ids, or by status.',
    tag: onThread,
    query: cancelManyQuery,
    body: { schema: RunsCancel, required: true },
    answers: { 204: { description: 'The runs will end.' } },
    errors: [400, 404, 413, 422],
  },
  {
    method: 'post',
    path: '/runs',
    id: 'create_stateless_run',
    summary: 'Start a stateless run in the background',
    tag: alone,
    body: { schema: statelessRun, required: true },
    answers: { 200: { description: 'The pending run.', schema: runResponse } },
    errors: starting,
  },
  {
    method: 'get',
    path: '/runs/{run_id}/stream',
    id: 'join_stateless_run_stream',
    summary: 'Stream the events of a run by its id alone',
    tag: alone,
    query: followQuery,
    headers: ['lastEventId'],
    answers: { 200: events },
    errors: looking,
  },
  {
    method: 'post',
    path: '/runs/stream',
    id: 'stream_stateless_run',
    summary: 'Start a stateless run and stream its events',
    tag: alone,
    body: { schema: statelessRun, required: true },
    answers: { 200: events },
    errors: starting,
  },
  {
    method: 'post',
    path: '/runs/wait',
    id: 'wait_stateless_run',
    summary: 'Start a stateless run and wait for its end',
    description: 'Newlines keep the connection alive until the JSON is ready.',
    tag: alone,
    body: { schema: statelessRun, required: true },
    answers: { 200: result },
    errors: starting,
  },
  {
    method: 'post',
    path: '/runs/batch',
    id: 'create_run_batch',
    summary: 'Start several stateless runs in the background',
    description: 'Accepts all of them, or none.',
    tag: alone,
    body: { schema: runBatch, required: true },
    answers: { 200: { description: 'The pending runs.', schema: z.array(runResponse) } },
    errors: starting,
  },
];
