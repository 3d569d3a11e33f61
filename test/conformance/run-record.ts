/** The record of the last whole run, which the reporter leaves for `mark.ts`: the tests that carry claims. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { RanTest } from './proof.ts';

const RunRecord = z.strictObject({
  /** When the run ended, ISO 8601. */
  ended: z.iso.datetime(),
  tests: z.array(
    z.strictObject({
      path: z.array(z.string()),
      claims: z.array(z.string()),
      state: z.enum(['passed', 'failed', 'skipped']),
    }),
  ),
});
/** What one whole run saw of the claims. */
export type RunRecord = z.infer<typeof RunRecord>;

/** Where the record lies: in a folder that is never committed. */
export const runRecordPath: URL = new URL('../../node_modules/.cache/landfall/claims-run.json', import.meta.url);

/** Writes the record, with the folders it needs. */
export function writeRunRecord(ended: Date, tests: readonly RanTest[], path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ended: ended.toISOString(), tests }, undefined, 1)}\n`);
}

/** Reads the record; throws when there is none (no whole run yet) or when it is not one. */
export function readRunRecord(path: string): RunRecord {
  return RunRecord.parse(JSON.parse(readFileSync(path, 'utf8')));
}
