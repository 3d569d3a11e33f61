import { Validator } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import * as z from 'zod';
import type { OperationDescription } from '../../../../src/kit/http/operation.ts';
import { openApiPath } from '../../../../src/kit/http/openapi.ts';
import type { FieldSpelling } from '../../../../src/contract/control/aliases.ts';
import type { OpenApi } from '../../../kit/http/shape.ts';
import type { FuzzFixture, Thing } from './fixture.ts';
import { ofTheThing, requestsFor, type ChosenId, type FuzzCase } from './requests.ts';

/** The maximum number of known resources, and the minimum of those that an operation can use. */
const mostKnown = 300;
const fewestKnown = 3;

/** The context of a fuzz run. */
export interface Play {
  fixture: FuzzFixture;
  /** The OpenAPI document in each spelling of the fields. */
  documents: Readonly<Record<FieldSpelling, OpenApi>>;
  /** The number of random requests. */
  runs: number;
  seed: number;
}

/**
 * Sends random requests to an operation. Throws on the first response that is undocumented, doesn't match its schema,
 * or belongs to another tenant. Returns how often each status occurred.
 */
export async function play(
  operation: OperationDescription,
  { fixture, documents, runs, seed }: Play,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  await fixture.furnish();
  const known = fixture.own.flatMap((thing) => Object.values(thing));
  const property = fc.asyncProperty(requestsFor(operation, documents.contract, known), async (fuzzCase) => {
    const answer = await send(operation, fuzzCase, fixture);
    const { status } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (isStream) await answer.body?.cancel();
    const text = isStream ? '' : await answer.text();
    const isPublic = fuzzCase.headers['x-field-names']?.trim().toLowerCase() === 'public';
    const document = documents[isPublic ? 'public' : 'contract'];
    const problem = problemWith(operation, fuzzCase, { status, text, document });
    if (problem !== undefined)
      throw new Error(`${problem} (${fixture.logged.at(-1) ?? 'nothing logged'}): ${text.slice(0, 500)}`);
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    if (status < 300 && isJson && !text.startsWith('[')) remember(operation, text, fixture);
  });
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
  return statuses;
}

async function send(operation: OperationDescription, fuzzCase: FuzzCase, fixture: FuzzFixture): Promise<Response> {
  const { ids, query, headers, body } = fuzzCase;
  const names = ids.map(({ name }) => name);
  const thing = await meant(names, fuzzCase.at, fixture);
  const values = new Map(ids.map((chosen) => [chosen.name, idOf(chosen, thing, fixture)]));
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values.get(name) ?? ''));
  const requested = new URLSearchParams(
    query.map(([name, value]): [string, string] => [name, filled(value, thing, name).toWellFormed()]),
  );
  const key =
    operation.id === 'tell_runs' ? { authorization: `Bearer ${thing['token']}` } : { 'x-api-key': fixture.apiKey };
  const answer = await fixture.app.request(`${path}${requested.size > 0 ? `?${requested.toString()}` : ''}`, {
    method: operation.method.toUpperCase(),
    headers: Object.fromEntries(
      Object.entries({ ...headers, ...key }).map(([name, value]) => [name, filled(value, thing, 'revision_id')]),
    ),
    ...(body ? { body: Buffer.from(body) } : {}),
  });
  const isGone = answer.status === 404 || (operation.method === 'delete' && answer.status < 300);
  if (isGone && names.length > 0) forget(fixture, thing);
  return answer;
}

/** Selects the resource of a request; creates more when few are left. */
async function meant(names: readonly string[], at: number, fixture: FuzzFixture): Promise<Thing> {
  const fit = () => fixture.own.filter((thing) => names.every((name) => name in thing));
  const isMade = names.some((name) => /^(deployment|listener|claim|revision|project)_id$/.test(name));
  if (names.includes('claim_id') && fit().length < fewestKnown) await fixture.claimAgain();
  if (isMade && fit().length < fewestKnown) await fixture.furnish();
  const from = fit();
  return from[at % Math.max(from.length, 1)] ?? {};
}

function forget(fixture: FuzzFixture, thing: Thing): void {
  const [first] = ['claim_id', 'revision_id', 'deployment_id', 'project_id', 'listener_id', 'api_key_id'].filter(
    (name) => name in thing,
  );
  const at = fixture.own.indexOf(thing);
  if (first !== undefined && at >= 0) fixture.own.splice(at, 1);
}

const filled = (value: string, thing: Thing, name: string): string =>
  value === ofTheThing ? (thing[name === 'deployment_ids' ? 'deployment_id' : name] ?? 'none') : value;

function idOf({ name, whose, odd }: ChosenId, thing: Thing, { foreign }: FuzzFixture): string {
  if (whose === 'odd') return odd.toWellFormed() === '' ? 'odd' : odd.toWellFormed();
  if (whose === 'unknown') return '00000000-0000-4000-8000-000000000000';
  return (whose === 'foreign' ? foreign[odd.length % foreign.length] : thing[name]) ?? 'none';
}

function problemWith(
  { id, path, method }: OperationDescription,
  { ids }: FuzzCase,
  { status, text, document }: { status: number; text: string; document: OpenApi },
): string | undefined {
  const documented = document.paths[openApiPath(path)]?.[method]?.responses[String(status)];
  // Dot segments and empty ids change the path, so that another operation may respond.
  const isRemote = ids.some(({ whose, odd }) => whose === 'odd' && /^\.{0,2}$|^%|\//.test(odd));
  // Remote services fail at times, which is documented as 502.
  if (status >= 500 && !(status === 502 && documented)) return `${id} responded with ${status}`;
  if (isRemote) return undefined;
  if (!documented) return `${id} responded with ${status}, which is not documented`;
  if (status < 300 && ids.some(({ name, whose }) => name.endsWith('_id') && whose === 'foreign'))
    return `${id} served another tenant`;
  const schema = documented.content?.['application/json']?.schema;
  if (!schema) return undefined;
  const { valid, errors } = validatorOf(schema, document).validate(JSON.parse(text));
  return valid
    ? undefined
    : `${id} responded with ${status}, which does not match the schema: ${errors.at(-1)?.instanceLocation} ${errors.at(-1)?.error}`;
}

/** Cached by response schema: resolving its references takes far longer than a response. */
const validators = new WeakMap<object, Validator>();

function validatorOf(schema: object, { components }: OpenApi): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const made = new Validator({ ...schema, components }, '2020-12');
  validators.set(schema, made);
  return made;
}

const withIds = z.looseObject({
  id: z.string().optional(),
  latest_revision_id: z.string().nullish(),
  key: z.unknown().optional(),
});

/** Adds created resources to those that later requests use. */
function remember({ id: operation }: OperationDescription, text: string, { own }: FuzzFixture): void {
  const { id, latest_revision_id, key } = withIds.parse(JSON.parse(text));
  const made: Thing[] = [];
  if (latest_revision_id != null && id !== undefined) made.push({ deployment_id: id, revision_id: latest_revision_id });
  if (operation === 'create_listener' && id !== undefined) made.push({ listener_id: id });
  if (key !== undefined && id !== undefined) made.push({ api_key_id: id });
  own.push(...made);
  if (own.length > mostKnown) own.splice(5, own.length - mostKnown);
}
