import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker } from '../../../src/deploy/file/desired.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import { holdsSettings } from '../../../src/deploy/rules/find-made.ts';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import type { Plan } from '../../../src/deploy/rules/plan-types.ts';
import { docker, image, seenImage, changed, request, obstacles, notes, shown } from './plan-cases.ts';

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
    expect(shown(planned)).not.toMatch(/hush|"one"|kept/);
  });

  const change = (name: string, from: string | undefined, to: string | undefined, code: string) => ({
    field: `secrets.${name}`,
    from,
    to,
    makesRevision: true,
    why: { code },
  });

  test('says why each is changed', () => {
    const planned = requested(
      [
        { name: 'TOKEN', value: 'two' },
        { name: 'NEW', value: 'x' },
      ],
      'overwrite',
    );
    expect(planned.kind === 'patch' && planned.changes).toEqual([
      change('TOKEN', 'set', 'set', 'secret-differs'),
      change('NEW', undefined, 'set', 'secret-missing'),
      change('OTHER', 'set', undefined, 'secret-dropped'),
    ]);
  });

  test.each<[value: string | null | undefined, masked: boolean]>([
    ['******', true],
    ['•••', true],
    ['***a', true],
    ['sk-proj-abcd...wxyz', true],
    ['***REDACTED***', true],
    ['[FILTERED]', true],
    ['xxxx', true],
    ['<hidden>', true],
    ['[REDACTED]', true],
    ['', true],
    [null, true],
    [undefined, true],
    ['**', false],
    ['P@ss*word1', false],
    ['a prompt that says *** in its middle', false],
    ['the hidden word', false],
  ])('merge keeps no value that is shown as %s: %s', (value, masked) => {
    const hidden = { ...image, secrets: [{ name: 'OTHER', value }] };
    const planned = plan({ ...docker, secrets: [{ name: 'A', value: 'b' }] }, { ...seenImage, deployment: hidden });
    expect(obstacles(planned)).toEqual(masked ? [{ field: 'secrets.OTHER', code: 'secret-lost' }] : []);
  });

  test('a masked value is none beside one that is shown', () => {
    const secrets = [
      { name: 'SHOWN', value: 'one' },
      { name: 'MASKED', value: 'sk-a...9f' },
    ];
    const planned = plan(
      { ...docker, secrets: [{ name: 'A', value: 'b' }] },
      { ...seenImage, deployment: { ...image, secrets } },
    );
    expect(obstacles(planned).map(({ field }) => field)).toEqual(['secrets.MASKED']);
  });

  test('a value that only looks masked is the same as the given one', () => {
    const held = [{ name: 'TOKEN', value: 'changeme...' }];
    const planned = plan({ ...docker, secrets: held }, { ...seenImage, deployment: { ...image, secrets: held } });
    expect(planned.kind).toBe('none');
  });

  test('a hidden value that is given is sent, because it cannot be compared', () => {
    const hidden = { ...image, secrets: [{ name: 'TOKEN', value: null }] };
    const planned = plan(
      { ...docker, secrets: [{ name: 'TOKEN', value: 'one' }] },
      { ...seenImage, deployment: hidden },
    );
    expect(request(planned)?.secrets).toEqual([{ name: 'TOKEN', value: 'one' }]);
    expect(planned.kind === 'patch' && planned.changes).toEqual([change('TOKEN', 'set', 'set', 'secret-hidden')]);
  });

  test('secrets that the service does not list are replaced by overwrite only', () => {
    const { secrets: _, ...unlisted } = image;
    const wanted = [{ name: 'TOKEN', value: 'one' }];
    const planned = (strategy: 'merge' | 'overwrite', secrets = wanted) =>
      plan({ ...docker, secrets, secretsStrategy: strategy }, { ...seenImage, deployment: unlisted });
    expect(request(planned('overwrite'))?.secrets).toEqual(wanted);
    expect(obstacles(planned('merge'))).toEqual([{ field: 'secrets', code: 'secrets-unlisted' }]);
    expect(planned('merge', []).kind).toBe('none');
  });

  test.each<[string, Deployment['secrets'], boolean, boolean]>([
    ['the same value', [{ name: 'TOKEN', value: 'one' }], true, true],
    ['a hidden value', [{ name: 'TOKEN', value: '' }], true, false],
    ['no list', undefined, true, false],
    ['another value', [{ name: 'TOKEN', value: 'two' }], false, false],
    ['a hidden value of another name', [{ name: 'OTHER', value: '' }], false, false],
    ['one more', [...held.slice(0, 1), { name: 'OTHER', value: '' }], false, false],
  ])('a deployment holds secrets by %s: %s if hidden values are trusted, else %s', (_, secrets, trusted, not) => {
    const deployed = { ...image, secrets };
    const sent = { secrets: [{ name: 'TOKEN', value: 'one' }] };
    expect(holdsSettings(sent, deployed, true)).toBe(trusted);
    expect(holdsSettings(sent, deployed)).toBe(not);
  });

  test('references are compared by name and change in place', () => {
    const secretReferences = [{ name: 'A', secret_name: 's', secret_key: 'k' }];
    const planned = plan({ ...docker, secretReferences }, seenImage);
    expect(planned).toMatchObject({
      kind: 'patch',
      makesRevision: false,
      request: { secret_references: secretReferences },
    });
    const reference = (name: string, from: string | undefined, to: string | undefined, why: object) => ({
      field: `secret_references.${name}`,
      from,
      to,
      makesRevision: false,
      why,
    });
    const differs = { code: 'differs', patch: 'next-revision' };
    expect(planned.kind === 'patch' && planned.changes).toEqual([reference('A', undefined, 's/k', differs)]);
    const there = { ...image, secret_references: secretReferences };
    const replaced = plan(
      { ...docker, secretReferences: [{ name: 'LONGER', secret_name: 's', secret_key: 'k' }] },
      { ...seenImage, deployment: there },
    );
    expect(replaced.kind === 'patch' && replaced.changes).toEqual([
      reference('LONGER', undefined, 's/k', differs),
      reference('A', 's/k', undefined, { code: 'reference-dropped' }),
    ]);
    expect(notes(replaced)).toEqual([
      { code: 'later-effect', fields: ['secret_references.LONGER', 'secret_references.A'] },
    ]);
    const beside = plan(
      { ...docker, secretReferences, customUrl: 'https://b.test' },
      { ...seenImage, deployment: there },
    );
    expect(request(beside)).toEqual({ source_config: { custom_url: 'https://b.test' } });
    expect(plan({ ...docker, secretReferences }, { ...seenImage, deployment: there }).kind).toBe('none');
    expect(plan({ ...docker, secretReferences: [] }, { ...seenImage, deployment: there })).toMatchObject({
      request: { secret_references: [] },
    });
  });
});
