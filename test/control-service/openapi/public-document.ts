import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { openApi } from '../../openapi/shape.ts';

const data = join(import.meta.dirname, '../../data/public-control-plane');
const read = (file: string): unknown => JSON.parse(readFileSync(join(data, file), 'utf8'));

const names = z.array(z.string());

/** The public service's description. */
export const publicDocument = openApi.parse(read('openapi.json'));
/** Further parts that newer public clients use. */
export const addenda = z
  .object({
    endpoints: z.array(
      z.object({ method: z.string(), path: z.string(), query: names.default([]), confidence: z.string() }),
    ),
    deployment_fields: names,
    revision_fields: names,
    source_revision_config_fields: names,
    list_deployments_query: names,
    create_fields: names,
    patch_fields: names,
    enums: z.object({
      source: names,
      deployment_type: names,
      deployment_status: names,
      revision_status: names,
    }),
  })
  .parse(read('addenda.json'));
