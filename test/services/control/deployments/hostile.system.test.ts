import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../../../src/contract/service-error.ts';
import { fromGit, fromImage, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

/** Puts arbitrary values into a request. */
function mutated(request: object): fc.Arbitrary<unknown> {
  const paths = pathsOf(request);
  return fc
    .tuple(fc.constantFrom(...paths), fc.jsonValue({ noUnicodeString: false }))
    .map(([path, value]) => replaced(request, path, value));
}

function pathsOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner).map((path) => [key, ...path]))];
}

function replaced(value: unknown, [key, ...rest]: string[], by: unknown): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return by;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === key ? replaced(inner, rest, by) : inner,
  ]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

const everything = {
  source_config: { build_on_push: true, install_command: 'npm ci', resource_spec: null },
  secrets: [{ name: 'A', value: 'b' }],
};
const image = {
  source_config: { resource_spec: { cpu: 1, labels: { a: 'b' }, sidecars: [{ name: 'a', image: 'a' }] } },
  secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }],
};

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const statusOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'taken',
      (error: unknown) => (error instanceof ServiceError ? error.status : error),
    );
  const expected = ['taken', 400, 409, 422];

  test('any creation is accepted or refused', async () => {
    const bodies = fc.oneof(mutated(fromGit(everything)), mutated(fromImage(image)), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        expect(expected).toContain(await statusOf(fixture.control.createDeployment(body)));
      }),
      { numRuns: 60 },
    );
  });

  test('any PATCH is accepted or refused', async () => {
    const { id } = await fixture.control.createDeployment(fromImage(image));
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated(image), fc.jsonValue()), async (body) => {
        expect(expected).toContain(await statusOf(fixture.control.patchDeployment(id, body)));
      }),
      { numRuns: 60 },
    );
  });

  test('a body that is nested too deep is refused', async () => {
    let deep: unknown = 'here';
    for (let level = 0; level < 2_000; level += 1) deep = { resource_spec: [deep] };
    expect(await statusOf(fixture.control.createDeployment(deep))).toBe(422);
  });

  test('a body that is too large gets one error, not one per mistake', async () => {
    const much = fromGit({ secrets: Array.from({ length: 100_000 }, () => 1) });
    await expect(fixture.control.createDeployment(much)).rejects.toMatchObject({
      status: 422,
      problems: [{ loc: ['body'], msg: 'Holds more than 20000 values', type: 'too_many' }],
    });
  });

  test.each([
    ['source_config', 'repo_url', 'https://example.com/'],
    ['source_config', 'install_command', 'npm ci && '],
    ['source_config', 'build_command', ''],
    ['source_revision_config', 'repo_ref', ''],
    ['source_revision_config', 'graph_config_path', 'a/'],
  ])('%s.%s is refused if unsafe on a command line, and not repeated', async (part, field, begin) => {
    const requested = (length: number) => ({ [part]: { [field]: begin.padEnd(length, 'a') } });
    const reported = { status: 400, detail: `${part}.${field} may have at most 4096 characters; this one has 4097.` };
    await expect(fixture.control.createDeployment(fromGit(requested(4_097)))).rejects.toMatchObject(reported);
    const { id } = await fixture.control.createDeployment(fromGit(requested(4_096)));
    await expect(fixture.control.patchDeployment(id, requested(4_097))).rejects.toMatchObject(reported);
  });

  test('keys with a meaning in JavaScript have none here', async () => {
    const body: unknown = JSON.parse('{"__proto__": {"name": "a"}, "constructor": {"prototype": {"name": "a"}}}');
    expect(await statusOf(fixture.control.createDeployment(body))).toBe(422);
    const patch: unknown = JSON.parse('{"source_config": {"__proto__": {"build_on_push": true}}}');
    const made = await fixture.control.createDeployment(fromGit());
    const after = await fixture.control.patchDeployment(made.id, patch);
    expect(after.source_config.build_on_push).toBeNull();
  });
});
