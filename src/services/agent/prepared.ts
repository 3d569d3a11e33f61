import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type * as z from 'zod';
import { fromJson } from '../../kit/json-text.ts';
import { missingCodes, unlessCode } from '../../kit/errors.ts';

/** What a build makes for the agent server, in a file for each beside the graph configuration. */
export type Prepared = 'ui' | 'schemas' | 'python-schemas';

const fileOf = (configPath: string, what: Prepared): string =>
  join(dirname(configPath), '.landfall-build', `${what}.json`);

/** Reads what a build made; undefined if there is none, or it is of another version. */
export function readPrepared<T>(configPath: string, what: Prepared, schema: z.ZodType<T>): T | undefined {
  const text = unlessCode([...missingCodes, 'EISDIR'], '', () => readFileSync(fileOf(configPath, what), 'utf8'));
  return schema.safeParse(fromJson(text)).data;
}

export function writePrepared(configPath: string, what: Prepared, value: unknown): void {
  const file = fileOf(configPath, what);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}

/** Removes what an earlier build made, or what came with the source. */
export const removePrepared = (configPath: string, what: Prepared): void =>
  rmSync(fileOf(configPath, what), { force: true, recursive: true });
