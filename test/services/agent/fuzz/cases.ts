import * as fc from 'fast-check';
import { openApiPath } from '../../../../src/kit/http/openapi.ts';
import type { OperationDescription } from '../../../../src/kit/http/operation.ts';
import { brokenOf, bytesOf, oddText } from '../../control/fuzz/broken.ts';
import { fromSchema } from '../../control/fuzz/from-schema.ts';
import type { OpenApi, Schema } from '../../../kit/http/shape.ts';

/** A generated request. */
export interface FuzzCase {
  /** Index of the resource that the request is about. */
  at: number;
  /** The parts of its path: undefined for the resource's own id. */
  parts: (readonly [name: string, odd: string | undefined])[];
  query: [name: string, value: string][];
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

/** Placeholder in a body for the resource's field of this name. */
const own = (name: string): string => `\u0001${name}\u0001`;

const run = { assistant_id: 'echo', input: { input: 'Ada' } };
const call = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const message = { role: 'user', messageId: 'm-1', parts: [{ kind: 'text', text: 'Ada' }] };
const mcpClient = { name: 'x-1', version: '1' };

/** Valid bodies that a generator would hardly find from the schema alone. */
const wellMade: Readonly<Record<string, readonly unknown[]>> = {
  create_assistant: [{ graph_id: 'echo' }, { graph_id: 'toned', context: { tone: 'warm' }, metadata: { a: [1] } }],
  patch_assistant: [{ context: { greeting: 'x-1' } }, { graph_id: 'chat', config: { tags: ['a'] } }],
  set_latest_assistant_version: [{ version: 1 }, { version: 2 }, { version: 3 }],
  create_thread: [
    {},
    {
      metadata: { graph_id: 'interrupts' },
      supersteps: [{ updates: [{ values: { request: 'a' }, as_node: '__start__' }] }],
    },
    { ttl: { ttl: 1, strategy: 'delete' }, thread_id: own('thread_id'), if_exists: 'do_nothing' },
  ],
  search_threads: [
    { extract: { a: 'values.request' } },
    { values: { request: 'rest' }, metadata: { graph_id: 'interrupts' } },
  ],
  update_thread_state: [{ values: { request: 'x-1' } }, { values: { answer: 'a' }, as_node: 'ask' }],
  search_thread_history: [{ limit: 3, before: own('checkpoint_id') }, { metadata: { step: 1 } }],
  post_thread_state_at_checkpoint: [{ checkpoint: { checkpoint_id: own('checkpoint_id') } }],
  create_run: [
    run,
    { assistant_id: 'interrupts', command: { resume: 'yes' } },
    { ...run, multitask_strategy: 'rollback' },
  ],
  stream_run: [
    { ...run, stream_mode: ['updates', 'events'] },
    { assistant_id: 'outer', input: { word: 'a' }, stream_subgraphs: true },
    { assistant_id: 'interrupts', input: null, checkpoint: { checkpoint_id: own('checkpoint_id') } },
  ],
  wait_run: [run, { assistant_id: 'interrupts', command: { goto: 'think', update: { request: 'a' } } }],
  cancel_runs: [{ thread_id: own('thread_id'), run_ids: [own('run_id')] }],
  create_stateless_run: [run],
  stream_stateless_run: [{ ...run, stream_mode: 'messages-tuple' }],
  wait_stateless_run: [run, { assistant_id: 'toned', input: {}, context: { tone: 'cold' } }],
  create_run_batch: [[run, run]],
  create_thread_cron: [{ assistant_id: 'echo', schedule: '0 0 1 1 *', timezone: 'Europe/Rome' }],
  create_cron: [{ assistant_id: 'echo', schedule: '@yearly', end_time: '2090-01-01T00:00:00Z' }],
  patch_cron: [{ schedule: '0 0 2 2 *', end_time: null }, { enabled: false }],
  search_crons: [{ assistant_id: own('assistant_id') }],
  put_item: [{ namespace: ['a', 'agent'], key: 'main', value: { volume: 2 }, ttl: 1 }],
  search_items: [
    { namespace_prefix: ['a'], filter: { volume: { $gte: 1 } } },
    { namespace_prefix: [], filter: {} },
  ],
  list_namespaces: [{ prefix: ['a', '*'], max_depth: 1 }],
  post_a2a: [
    call('message/send', { message }),
    call('message/stream', { message }),
    call('tasks/get', { id: own('run_id'), contextId: own('thread_id') }),
    call('tasks/cancel', { id: own('run_id') }),
    call('tasks/resubscribe', { id: own('run_id') }),
    call('SendMessage', { message: { role: 'ROLE_USER', messageId: 'm-2', parts: [{ text: 'Ada' }] } }),
  ],
};
const mcp = [
  call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: mcpClient }),
  call('tools/list', {}),
  call('tools/call', { name: 'echo', arguments: { input: 'Ada' } }),
  { jsonrpc: '2.0', method: 'notifications/initialized' },
];

const bodiesOf = (operation: string): readonly unknown[] =>
  operation.startsWith('post_mcp') ? mcp : (wellMade[operation] ?? [{}]);

/** What a header may contain. */
const oddHeader = oddText.filter((value) => /^[\x20-\x7e]*$/.test(value));
const goodHeaders: Readonly<Record<string, fc.Arbitrary<string>>> = {
  Accept: fc.constant('application/json, text/event-stream'),
  'Last-Event-ID': fc.constantFrom('0', '-1', '1', '2', '9'.repeat(30)),
  'A2A-Version': fc.constantFrom('1.0', '0.3', '7'),
  'MCP-Protocol-Version': fc.constantFrom('2025-06-18', '2024-11-05', 'x'),
};

/** Requests for an operation: many valid, many broken in some way. */
export function fuzzCasesOf(operation: OperationDescription, document: OpenApi): fc.Arbitrary<FuzzCase> {
  const ids = fc.constantFrom(own('thread_id'), own('run_id'), own('checkpoint_id'), own('assistant_id'));
  const make = (schema: Schema) => fromSchema(schema, document.components.schemas, fc.oneof(ids, fc.uuid()));
  const described = document.paths[openApiPath(operation.path)]?.[operation.method];
  const queries = described?.parameters.filter((parameter) => parameter.in === 'query') ?? [];
  const names = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const odd = fc.oneof(oddText, fc.uuid(), fc.constantFrom('toString', '__proto__', 'echo', '\ufffe'));
  return fc.record({
    at: fc.nat(),
    parts: fc.tuple(
      ...names.map((name) => fc.option(odd, { freq: 8, nil: undefined }).map((value) => [name, value] as const)),
    ),
    query: fc
      .array(
        queries.length === 0
          ? fc.constant(null)
          : fc
              .constantFrom(...queries)
              .chain(({ name, schema }) =>
                fc.tuple(fc.constant(name), fc.oneof({ weight: 4, arbitrary: make(schema).map(String) }, oddText)),
              ),
        { maxLength: 3 },
      )
      .map((pairs) => pairs.filter((pair) => pair !== null)),
    headers: fc
      .tuple(
        ...(operation.headers ?? []).map(({ name }) =>
          fc
            .oneof({ weight: 8, arbitrary: goodHeaders[name] ?? oddHeader }, { weight: 1, arbitrary: oddHeader })
            .map((value) => [name.toLowerCase(), value] as const),
        ),
      )
      .map((pairs) => ({ 'content-type': 'application/json', ...Object.fromEntries(pairs) })),
    body: bodies(operation, described?.requestBody?.content['application/json']?.schema, make),
  });
}

function bodies(
  { id, body }: OperationDescription,
  schema: Schema | undefined,
  make: (schema: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<Uint8Array | undefined> {
  if (!body) return fc.constant(undefined);
  const good = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...bodiesOf(id)) },
    { weight: schema ? 1 : 0, arbitrary: make(schema ?? {}) },
  );
  return fc.oneof({ weight: 1, arbitrary: good }, { weight: 3, arbitrary: good.chain(brokenOf) }).chain(bytesOf);
}
