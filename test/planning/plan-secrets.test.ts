import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker } from '../../src/config/desired.ts';
import { plan } from '../../src/planning/plan.ts';
import { withoutRequest } from '../../src/planning/reported-plan.ts';
import type { Plan } from '../../src/planning/plan-types.ts';
import { docker, image, seenImage, changed, request, obstacles } from './plan-cases.ts';

describe('secrets', () => {
  const held = [
    { name: 'TOKEN', value: 'one' },
    { name: 'OTHER', value: 'kept' },
  ];
  const deployment = { ...image, secrets: held };
  const requested = (secrets: DesiredExternalDocker['secrets'], strategy: 'merge' | 'overwrite' = 'merge') =>
    plan({ ...docker, ...(secrets ? { secrets } : {}), secretsStrategy: strategy }, { ...seenImage, deployment });

  test.each<[string, Plan, unknown, string[]]>([
    [
      'merge sends the union of both',
      requested([{ name: 'TOKEN', value: 'two' }]),
      [held[1], { name: 'TOKEN', value: 'two' }],
      ['secrets.TOKEN'],
    ],
    [
      'merge adds one',
      requested([{ name: 'NEW', value: 'x' }]),
      [...held, { name: 'NEW', value: 'x' }],
      ['secrets.NEW'],
    ],
    ['merge of what is there sends nothing', requested([{ name: 'TOKEN', value: 'one' }]), undefined, []],
    [
      'overwrite removes the others',
      requested([{ name: 'TOKEN', value: 'one' }], 'overwrite'),
      [held[0]],
      ['secrets.OTHER'],
    ],
    [
      'overwrite with the same in another order sends nothing',
      requested(held.toReversed(), 'overwrite'),
      undefined,
      [],
    ],
    ['overwrite with nothing empties', requested([], 'overwrite'), [], ['secrets.TOKEN', 'secrets.OTHER']],
    ['nothing requested changes nothing', requested(undefined, 'overwrite'), undefined, []],
  ])('%s', (_, planned, sent, fields) => {
    expect(request(planned)?.secrets).toEqual(sent);
    expect(changed(planned)).toEqual(fields);
  });

  test('exposes no value in the plan', () => {
    const planned = requested([{ name: 'TOKEN', value: 'hush-hush' }], 'overwrite');
    expect(planned.kind).toBe('patch');
    expect(JSON.stringify(withoutRequest(planned))).not.toMatch(/hush|"one"|kept/);
  });

  test('hidden values are not overwritten with asterisks', () => {
    const hidden = { ...image, secrets: [{ name: 'OTHER', value: '******' }] };
    const planned = plan({ ...docker, secrets: [{ name: 'A', value: 'b' }] }, { ...seenImage, deployment: hidden });
    expect(obstacles(planned)[0]).toMatchObject({ field: 'secrets.OTHER', advice: expect.stringContaining('secrets') });
  });

  test('references are compared by name and change in place', () => {
    const secretReferences = [{ name: 'A', secret_name: 's', secret_key: 'k' }];
    const planned = plan({ ...docker, secretReferences }, seenImage);
    expect(planned).toMatchObject({
      kind: 'patch',
      makesRevision: false,
      request: { secret_references: secretReferences },
    });
    const there = { ...image, secret_references: secretReferences };
    expect(plan({ ...docker, secretReferences }, { ...seenImage, deployment: there }).kind).toBe('none');
    expect(plan({ ...docker, secretReferences: [] }, { ...seenImage, deployment: there })).toMatchObject({
      request: { secret_references: [] },
    });
  });
});
