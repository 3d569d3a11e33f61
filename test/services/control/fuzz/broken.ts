import * as fc from 'fast-check';

/** Values to put where another one is expected. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1e308,
    2 ** 53,
    0.05,
    '',
    ' ',
    '\0',
    '\ud800',
    '../../etc/passwd',
    "'; drop table control.deployments; --",
    '${7*7}',
    'x'.repeat(10_000),
    '9'.repeat(400),
    [],
    {},
    [[[[]]]],
    { $ref: '#' },
    '2030-01-01T00:00:00Z',
    'refs/tags/',
    '00000000-0000-0000-0000-000000000000',
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const oddKeys = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  'id',
  'tenant_id',
  'status',
  '\0',
  '',
  'x'.repeat(300),
);

/** The path of everything inside a value. */
function placesOf(value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null || at.length > 8) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]))];
}

/** Replaces or removes the part of a value at a path. */
function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === String(key) ? replaced(item, rest, by) : item));
  if (typeof value !== 'object' || value === null) return by;
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    if (name !== String(key)) return [[name, inner] as const];
    return rest.length === 0 && by === undefined ? [] : [[name, replaced(inner, rest, by)] as const];
  });
  return Object.fromEntries(fields);
}

/** A value with one to three mistakes. */
export const brokenOf = (value: unknown): fc.Arbitrary<unknown> =>
  fc
    .array(
      fc.record({
        where: fc.nat(),
        what: fc.oneof({ weight: 3, arbitrary: junk }, { weight: 1, arbitrary: fc.constant(undefined) }),
        added: fc.option(oddKeys),
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map((wrongs) =>
      wrongs.reduce<unknown>((broken, { where, what, added }) => {
        const places = placesOf(broken);
        const place = places[where % places.length] ?? [];
        if (added === null) return replaced(broken, place, what ?? null);
        return replaced(broken, [], { ...(isFields(broken) ? broken : {}), [added]: what });
      }, value),
    );

const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The bytes of a body: as JSON, truncated, invalid UTF-8, or nested without end. */
export const bytesOf = (value: unknown): fc.Arbitrary<Uint8Array> => {
  const whole = Buffer.from(JSON.stringify(value) ?? '');
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(whole) },
    { weight: 1, arbitrary: fc.nat({ max: Math.max(whole.length - 1, 0) }).map((end) => whole.subarray(0, end)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom('[', '{"a":').map((open) => Buffer.from(open.repeat(20_000))) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('1e999', '-', 'NaN', '"\\ud800"', '{"a":1,"a":2}', '\ufeff{}')
        .map((odd) => Buffer.from(odd)),
    },
  );
};

/** Unexpected values for a query or a header. */
export const oddText = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '101',
    '1e3',
    'true',
    'null',
    'READY',
    'a,b',
    '%',
    '%00',
    '\u00e9',
    '9'.repeat(30),
    '*',
    '"a"',
    'asc',
    'build',
  ),
  fc.string({ maxLength: 30 }),
);
