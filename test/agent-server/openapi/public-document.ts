import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApi } from '../../openapi/shape.ts';

/** The public server's description. */
export const publicDocument = openApi.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../data/public-agent-server/openapi.json'), 'utf8')),
);
