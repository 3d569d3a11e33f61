import { Validator } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../../src/services/agent/api/document.ts';
import { openApiPath } from '../../../../src/kit/http/openapi.ts';
import type { OperationDescription } from '../../../../src/kit/http/operation.ts';
import { operations } from '../../../../src/services/agent/api/operations.ts';
import { openApi } from '../../../kit/http/shape.ts';
import { openFuzzFixture } from './fixture.ts';
import type { FuzzFixture, Thing } from './fixture.ts';
import { fuzzCasesOf } from './cases.ts';
import type { FuzzCase } from './cases.ts';

/** Requests per operation; `LANDFALL_FUZZ=1000` runs a full round. */
const runs = Number(process.env['LANDFALL_FUZZ'] ?? 10);
/** A fixed seed makes failures reproducible; `LANDFALL_FUZZ_SEED` sets another. */
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);
/** All strings with a pattern are times; generating them from the expression is too slow. */
const asTimes = (_: string, value: unknown): unknown =>
  value instanceof Object && 'pattern' in value ? { type: 'string', format: 'date-time' } : value;
const document = openApi.parse(JSON.parse(JSON.stringify(openApiDocument(), asTimes)));
const unknownId = '00000000-0000-4000-8000-000000000000';

describe(`${runs} generated requests per operation`, () => {
  let fixture: FuzzFixture;
  beforeAll(async () => {
    fixture = await openFuzzFixture();
  });
  afterAll(() => fixture.close());

  test.each(operations.map((operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const))(
    '%s never fails, and responds as documented',
    { timeout: Math.max(600_000, runs * 1_000) },
    async (_, operation) => {
      const statuses: Record<number, number> = {};
      const property = fc.asyncProperty(fuzzCasesOf(operation, document), async (fuzzCase) => {
        const { status, problem } = await ask(operation, fuzzCase, fixture);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (problem !== undefined) throw new Error(`${problem} (${fixture.serving.lines.at(-1) ?? 'nothing logged'})`);
      });
      await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
      expect(Object.keys(statuses).length).toBeGreaterThan(0);
      if (process.env['LANDFALL_FUZZ']) console.log(operation.id, statuses);
    },
  );

  test('the server still works afterwards', async () => {
    await fixture.furnish();
    const left = fixture.serving.lines.filter((line) => /^[A-Z]+ \/\S* failed: /.test(line));
    expect(left).toEqual([]);
  });
});

/** Sends a request; returns what is wrong with the response, if anything. */
async function ask(operation: OperationDescription, fuzzCase: FuzzCase, fixture: FuzzFixture) {
  const { parts, query, headers, body } = fuzzCase;
  const names = parts.map(([name]) => name).filter((name) => name.endsWith('_id'));
  const fit = (thing: Thing) => names.every((name) => name in thing);
  const isPlentiful = () => fixture.things.filter(fit).length >= 2;
  if (!isPlentiful()) await fixture.furnish();
  const matching = fixture.things.filter(fit);
  const thing = matching[fuzzCase.at % matching.length] ?? {};
  const values = new Map(parts.map(([name, odd]) => [name, odd?.toWellFormed() ?? thing[name] ?? 'inside']));
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values.get(name) ?? ''));
  const search = new URLSearchParams(
    query.map(([name, value]): [string, string] => [name, filled(value, thing).toWellFormed()]),
  );
  const hangUp = new AbortController();
  const answer = await fixture.serving.fetch(
    new Request(`http://agent.test${path}${search.size > 0 ? `?${search.toString()}` : ''}`, {
      method: operation.method.toUpperCase(),
      headers,
      signal: hangUp.signal,
      ...(body ? { body: Buffer.from(filled(Buffer.from(body).toString('latin1'), thing), 'latin1') } : {}),
    }),
  );
  if (answer.status === 404 || operation.method === 'delete') forget(fixture, names, values);
  // A path part of dots, or an empty one, addresses another operation.
  const isRemote = parts.some(([, odd]) => odd !== undefined && /^\.{0,2}$|^%|\/|^search$|^count$/.test(odd));
  const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
  const text = await within(answer, hangUp);
  // With a field selection, only those fields are returned.
  const isSelected = search.has('select') || (body !== undefined && Buffer.from(body).includes('"select"'));
  const answered = { status: answer.status, type, text: isSelected && answer.ok ? undefined : text };
  const problem = problemWith(operation, answered, isRemote);
  return { status: answer.status, problem: problem && `${problem}: ${path} ${text?.slice(0, 500) ?? ''}` };
}

/** The text of a response; undefined for streams and long waits. */
async function within(answer: Response, hangUp: AbortController): Promise<string | undefined> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isStream ? undefined : await Promise.race([answer.text(), longEnough()]);
  if (text === undefined) hangUp.abort();
  if (isStream) await answer.body?.cancel();
  return text;
}

const longEnough = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, 1_500, undefined));

const filled = (text: string, thing: Thing): string =>
  text
    .replaceAll(/\\u0001(\w+)\\u0001/g, (_, name: string) => thing[name] ?? unknownId)
    .replaceAll(/\u0001(\w+)\u0001/g, (_, name: string) => thing[name] ?? unknownId);

/** Removes a deleted or missing resource, so that it is not requested again. */
function forget({ things }: FuzzFixture, names: readonly string[], values: ReadonlyMap<string, string>): void {
  const last = names.at(-1);
  if (last === undefined) return;
  const at = things.findIndex((thing) => thing[last] === values.get(last));
  if (at >= 0) things.splice(at, 1);
}

function problemWith(
  { id, path, method }: OperationDescription,
  { status, type, text }: { status: number; type: string; text: string | undefined },
  isRemote: boolean,
): string | undefined {
  if (status >= 500) return `${id} answered ${status}`;
  if (isRemote || text === undefined) return undefined;
  const documented = document.paths[openApiPath(path)]?.[method]?.responses[String(status)];
  if (!documented) return `${id} answered ${status}, which is not documented`;
  const schema = documented.content?.[type]?.schema;
  if (type !== 'application/json' || !schema) return undefined;
  const { valid, errors } = validatorOf(schema).validate(JSON.parse(text));
  return valid ? undefined : `${id} answered ${status} in another shape: ${JSON.stringify(errors.at(-1))}`;
}

/** Cached by response schema: resolving references is far slower than the response. */
const validators = new WeakMap<object, Validator>();

function validatorOf(schema: object): Validator {
  const made = validators.get(schema) ?? new Validator({ ...schema, components: document.components }, '2020-12');
  validators.set(schema, made);
  return made;
}
