import { createRequire } from 'node:module';
import * as z from 'zod';

const file = z.array(z.looseObject({ name: z.string(), examples: z.array(z.record(z.string(), z.unknown())) }));

/** One payload as GitHub sent it once. */
export interface Example {
  /** The event, its place among those of the event, and its action. */
  title: string;
  name: string;
  payload: Record<string, unknown>;
}

const load = createRequire(import.meta.url);

/** The payloads that GitHub's own people keep, of github.com or of a version of its server. */
export function examplesOf(edition: string): Example[] {
  const events = file.parse(load(`@octokit/webhooks-examples/${edition}/index.json`));
  return events.flatMap(({ name, examples }) =>
    examples.map((payload, at) => ({ title: titleOf(name, at, payload['action']), name, payload })),
  );
}

const titleOf = (name: string, at: number, action: unknown): string =>
  typeof action === 'string' ? `${name} ${at} ${action}` : `${name} ${at}`;
