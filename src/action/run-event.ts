import { readFileSync } from 'node:fs';
import { context } from '@actions/github';
import type { Environment } from '../deploy/file/secret-names.ts';
import { messageOf } from '../kit/errors.ts';
import { isObject } from '../kit/json-object.ts';

/** The event of the workflow run, from the runner's environment. */
export interface RunEvent {
  eventName: string;
  /** `owner/name`; empty outside of a runner. */
  repository: string;
  sha: string;
  /** Empty if the event belongs to no branch or tag. */
  ref: string;
  actor: string;
  apiUrl: string;
  serverUrl: string;
  runId: string;
  /** Starts at 1; higher numbers are reruns. */
  runAttempt: number;
  payload: Readonly<Record<string, unknown>>;
}

/** Reads the event. A payload that cannot be read is empty, and `problem` says why in two sentences. */
export function readRunEvent(env: Environment): { event: RunEvent; problem?: string } {
  const { payload, problem } = readPayload(env['GITHUB_EVENT_PATH']);
  const { eventName, sha, ref, actor, apiUrl, serverUrl, runId, runAttempt } = context;
  const event: RunEvent = {
    eventName: eventName ?? '',
    repository: env['GITHUB_REPOSITORY'] ?? '',
    sha: sha ?? '',
    ref: ref ?? '',
    actor: actor ?? '',
    apiUrl,
    serverUrl,
    runId: String(runId),
    runAttempt: Number.isNaN(runAttempt) ? 1 : runAttempt,
    payload,
  };
  return { event, ...(problem ? { problem } : {}) };
}

function readPayload(path: string | undefined): { payload: Record<string, unknown>; problem?: string } {
  if (!path) return { payload: {} };
  try {
    // Other runners than GitHub's may write a byte order mark.
    const read: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
    if (isObject(read)) return { payload: read };
    throw new Error('it is not an object');
  } catch (error) {
    const problem = `The file of the event (GITHUB_EVENT_PATH) was not read: ${error instanceof SyntaxError ? 'it is not JSON' : messageOf(error)}. Pull requests are not recognised; check the runner.`;
    return { payload: {}, problem };
  }
}
