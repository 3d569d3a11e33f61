import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { openApi } from '../../../kit/http/shape.ts';
import { recorded } from '../../../recorded.ts';

const addendaFile = new URL('../../../data/public-control-plane/addenda.json', import.meta.url);

const names = z.array(z.string());

/** The public service's description. */
export const publicDocument = openApi.parse(recorded('public-control-plane/openapi.json'));
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
  .parse(JSON.parse(readFileSync(addendaFile, 'utf8')));
