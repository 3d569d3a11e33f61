import { describeOperations, type OpenApiDocument } from '../../../kit/http/openapi.ts';
import type { ResponseDescription } from '../../../kit/http/operation.ts';
import { apiVersion } from '../version.ts';
import { namedSchemas } from './named-schemas.ts';
import { examples } from './examples.ts';
import { operations } from './operations.ts';
import { pathParameters, queryDescriptions } from './parameters.ts';
import { validationErrorResponse } from './response-schemas.ts';
import { title } from './system-operations.ts';
import { pageBounds } from '../../../contract/agent/assistant.ts';
import { storePage } from '../../../contract/agent/store-item.ts';
import { defaultStrategy } from '../runs/run-plan.ts';

/** Builds the OpenAPI document from the operations and the schemas that validate their requests. */
export function openApiDocument(): OpenApiDocument {
  return describeOperations(operations, {
    title,
    version: apiVersion,
    description: [
      'Runs the graphs of a deployment: assistants, threads, runs, crons, a store, and the protocols of agents and models.',
      'Refusals have one field, `detail`: a sentence, or at a 422 a list of the fields that are wrong.',
      'Unknown fields are ignored. `x-aliases` of an operation names further paths of it.',
    ],
    tags,
    examples,
    schemas: namedSchemas,
    schemaDefaults: bodyDefaults,
    pathParameters,
    queryDescriptions,
    queryDefaults,
    errors,
    commonErrors,
    securitySchemes: {
      ApiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Api-Key',
        description: 'A key of the deployment’s owner. A local server may not require one.',
      },
    },
    security: [{ ApiKey: [] }, {}],
  });
}

const tags = {
  Assistants: 'A graph with a configuration of its own, in versions.',
  Threads: 'What runs on a graph remember: their states, by checkpoints.',
  'Thread Runs': 'Runs that continue a thread.',
  'Stateless Runs': 'Runs that make a thread for themselves.',
  Crons: 'Runs on a schedule.',
  Store: 'Items that are kept beyond threads, by namespaces and keys.',
  A2A: 'The agent-to-agent protocol: assistants for other agents.',
  MCP: 'The model context protocol: assistants as tools.',
  'Thread Streams': 'The protocol of the official clients that stream a thread.',
  Webhooks: 'The requests that tell others of the end of runs.',
  UI: 'Components of pages that agents bring along.',
  System: 'The server itself.',
};

const refusal = (description: string): ResponseDescription => ({ description, schema: validationErrorResponse });

const errors: Readonly<Record<number, ResponseDescription>> = {
  400: refusal('The body is not JSON, or not readable by this endpoint.'),
  404: refusal('The resource does not exist.'),
  405: refusal('The method is not allowed here.'),
  409: refusal('The request conflicts with an existing resource.'),
  413: refusal('The body is larger than 16 MB.'),
  426: refusal('The request does not ask for a WebSocket.'),
  422: refusal('Invalid or unsupported fields: an entry for each.'),
  500: refusal('Internal error. See the server’s log.'),
  502: refusal('`store.index.embed` of the configuration file failed to embed a text.'),
};

const commonErrors: Readonly<Record<number, ResponseDescription>> = {
  401: refusal('No valid key was sent, or the agent’s own authentication refused the caller.'),
  403: refusal('The caller may not do this, or did not use the deployment’s URL.'),
  503: refusal(
    'The database or the embedding service is unavailable, or this revision is idle or shutting down. Retry in a moment.',
  ),
};

const page = { limit: pageBounds.defaultLimit, offset: 0 };

const ofEveryRun = {
  stream_mode: ['values'],
  stream_subgraphs: false,
  stream_resumable: false,
  on_disconnect: 'cancel',
  durability: 'async',
};

const bodyDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  AssistantCreate: { if_exists: 'raise' },
  AssistantSearchRequest: page,
  AssistantVersionsSearchRequest: page,
  CronCreate: { on_run_completed: 'delete', enabled: true },
  CronSearch: { ...page, sort_by: 'created_at', sort_order: 'desc' },
  RunCreateStateful: { ...ofEveryRun, multitask_strategy: defaultStrategy, if_not_exists: 'reject' },
  RunCreateStateless: { ...ofEveryRun, on_completion: 'delete' },
  StoreListNamespacesRequest: { limit: storePage.namespacesLimit, offset: 0 },
  StoreSearchRequest: { limit: storePage.searchLimit, offset: 0 },
  ThreadCreate: { if_exists: 'raise' },
  ThreadCronCreate: { multitask_strategy: defaultStrategy, enabled: true },
  ThreadSearchRequest: page,
  ThreadStateSearch: { limit: 1 },
};

const queryDefaults: Readonly<Record<string, unknown>> = { ...page, stream_modes: ['run_modes'] };
