import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/**
 * A recorded document of others: a compressed JSON file below test/data, whose folder says in a README where it is from.
 * `gunzip --stdout` shows it.
 */
export const recorded = (file: string): unknown =>
  JSON.parse(gunzipSync(readFileSync(new URL(`data/${file}.gz`, import.meta.url))).toString());
