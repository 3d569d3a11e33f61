import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { OperationDescription } from '../../../../src/kit/http/operation.ts';
import { openApiPath } from '../../../../src/kit/http/openapi.ts';
import { fromGit, fromImage } from '../service-fixture.ts';
import type { OpenApi, Schema } from '../../../kit/http/shape.ts';
import { brokenOf, bytesOf, oddText } from './broken.ts';
import { fromSchema } from './from-schema.ts';
import { tracedRun } from './fixture.ts';

/** Which id a path gets: that of an existing resource of the tenant, or another one. */
export interface ChosenId {
  name: string;
  whose: 'own' | 'foreign' | 'unknown' | 'odd';
  odd: string;
}

/** A random request. */
export interface FuzzCase {
  /** The index of the resource to use. */
  at: number;
  ids: ChosenId[];
  query: [name: string, value: string][];
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

const whose = fc.oneof(
  { weight: 25, arbitrary: fc.constant('own' as const) },
  { weight: 1, arbitrary: fc.constantFrom('foreign' as const, 'unknown' as const, 'odd' as const) },
);

/** Placeholder for the parameter of that name of the selected resource. */
export const ofTheThing = '\u0001';

const moment = fc.constantFrom('2030-01-01T00:00:00Z', '2001-01-01', '2026-06-01T12:00:00+02:00');
/** Valid query values that the OpenAPI document does not describe. */
const queryValues: Readonly<Record<string, fc.Arbitrary<string>>> = {
  status: fc.constantFrom('READY', 'DEPLOYED', 'CREATING,QUEUED', 'AWAITING_DELETE , UNKNOWN'),
  start_time: moment,
  end_time: moment,
  expires: fc.constant(ofTheThing),
  signature: fc.constant(ofTheThing),
  deployment_id: fc.constant(ofTheThing),
  revision_id: fc.constant(ofTheThing),
  deployment_ids: fc.constant(ofTheThing),
};

/** Whether a header can carry the value. */
const isHeader = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);
const oddHeader = oddText.filter(isHeader);

const headerValues: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'X-Field-Names': fc.oneof(fc.constantFrom('public', 'contract', 'PUBLIC'), oddHeader),
  'Idempotency-Key': fc.oneof(
    { weight: 8, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: fc.constantFrom('one', '"two"', 'three') },
    { weight: 1, arbitrary: oddHeader },
  ),
  'If-Match': fc.oneof({ weight: 8, arbitrary: fc.constantFrom('*', ofTheThing) }, { weight: 1, arbitrary: oddHeader }),
  'Last-Event-ID': fc.oneof(fc.constantFrom('0', '17'), oddHeader),
  'Content-Digest': fc.oneof(fc.constant(`sha-256=:${Buffer.alloc(32).toString('base64')}:`), oddHeader),
};

/** Mostly valid bodies, because those generated from a schema are mostly rejected. */
const wellMade: Readonly<Record<string, () => unknown[]>> = {
  create_deployment: () => [
    fromGit(),
    fromGit({ source_config: { deployment_type: 'dev', build_on_push: true, install_command: 'npm ci && true' } }),
    fromImage({
      source_config: { resource_spec: { cpu: 1, memory_mb: 512, volumes: [{ name: 'data', emptyDir: {} }] } },
    }),
    fromImage({ secrets: [{ name: 'MODEL_KEY', value: 'x' }] }),
    {
      ...fromGit(),
      source: 'internal_source',
      source_config: {},
      source_revision_config: { graph_config_path: 'graph.json' },
    },
    { ...fromGit(), source: 'internal_docker', source_config: {}, source_revision_config: {} },
  ],
  patch_deployment: () => [
    {},
    { secrets: [] },
    { secrets: [{ name: 'MODEL_KEY', value: 'y' }] },
    { source_config: { build_on_push: false } },
    { source_config: { resource_spec: { cpu: 2 } } },
    { source_revision_config: { repo_ref: 'main' } },
    { source_revision_config: { repo_ref: 'refs/tags/v1' } },
    { source_revision_config: { image_uri: 'registry.example.com/agent:2' } },
    { source_revision_config: { source_tarball_path: 'uploads/none' } },
  ],
  create_revision: () => [{}, { source_revision_config: { repo_ref: 'main' } }],
  create_listener: () => [{ compute_type: 'k8s', compute_id: `cluster-${names()}`, compute_config: {} }],
  patch_listener: () => [{ version: '1.2' }, { compute_config: { k8s_namespaces: ['agents'] } }],
  create_api_key: () => [{ name: 'a key' }],
  claim_work: () => [{ holder: 'worker' }],
  tell_runs: () => [{ runs: [tracedRun(randomUUID())] }],
  report_work: () => [
    { status: 'DEPLOYING', log: [{ sequence: 1, level: 'info', message: 'started' }] },
    { status: 'DEPLOYED', image_version: '1.0' },
    { status: 'DEPLOY_FAILED', message: 'no' },
    { status: 'REMOVED' },
  ],
};
let made = 0;
const names = (): number => (made += 1);

/** Random requests for an operation: many valid, many with mistakes. */
export function requestsFor(
  operation: OperationDescription,
  document: OpenApi,
  known: readonly string[],
): fc.Arbitrary<FuzzCase> {
  const uuid = fc.oneof(fc.constantFrom(...known), fc.uuid());
  const make = (schema: Schema) => fromSchema(schema, document.components.schemas, uuid);
  const described = document.paths[openApiPath(operation.path)]?.[operation.method];
  const pathNames = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const queries = described?.parameters.filter((parameter) => parameter.in === 'query') ?? [];
  const sent = operation.headers ?? [];
  return fc.record({
    at: fc.nat(),
    ids: fc.tuple(...pathNames.map((name) => fc.record({ name: fc.constant(name), whose, odd: oddText }))),
    query: fc
      .tuple(
        ...queries.map(({ name, schema, required = false }) =>
          fc.oneof(
            // Omit most optional parameters.
            { weight: required ? 1 : 40, arbitrary: fc.constant(null) },
            {
              weight: 20,
              arbitrary: fc.tuple(
                fc.constant(name),
                fc.oneof(
                  { weight: 15, arbitrary: queryValues[name] ?? make(schema).map(asText) },
                  { weight: 1, arbitrary: oddText },
                ),
              ),
            },
          ),
        ),
      )
      .map((pairs) => pairs.filter((pair) => pair !== null)),
    headers: fc
      .tuple(
        fc.oneof(
          { weight: 15, arbitrary: fc.constant(typeOf(operation)) },
          {
            weight: 1,
            arbitrary: fc.constantFrom('text/plain', '', 'application/json; charset=utf-16', 'multipart/form-data'),
          },
        ),
        ...sent.map(({ name }) =>
          fc.option(
            (headerValues[name] ?? oddHeader).map((value) => [name.toLowerCase(), value] as const),
            { freq: 3 },
          ),
        ),
      )
      .map(([type, ...others]) =>
        Object.fromEntries([['content-type', type], ...others.filter((pair) => pair !== null)]),
      ),
    body: bodiesFor(operation, document, make),
  });
}

const typeOf = ({ body }: OperationDescription): string => (body && 'type' in body ? body.type : 'application/json');
const asText = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value));

function bodiesFor(
  { id: name, body }: OperationDescription,
  document: OpenApi,
  make: (schema: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<Uint8Array | undefined> {
  if (!body) return fc.constant(undefined);
  if ('type' in body) {
    return fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.constant(Buffer.from('1f8b08000000000000030300', 'hex')));
  }
  const requested = fromDocument(name, document);
  const good = fc.oneof(
    { weight: 2, arbitrary: fc.nat().map((at) => chosen(wellMade[name]?.() ?? [{}], at)) },
    { weight: 1, arbitrary: make(requested) },
  );
  return fc.oneof({ weight: 2, arbitrary: good }, { weight: 3, arbitrary: good.chain(brokenOf) }).chain(bytesOf);
}

const chosen = (from: readonly unknown[], at: number): unknown => from[at % from.length];

/** The schema of a body in the OpenAPI document. */
function fromDocument(operationId: string, document: OpenApi): Schema {
  for (const methods of Object.values(document.paths))
    for (const operation of Object.values(methods)) {
      if (operation.operationId !== operationId) continue;
      return operation.requestBody?.content['application/json']?.schema ?? {};
    }
  return {};
}
