import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromGit, fromImage, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const withSecret = (secret: object) => fixture.control.createDeployment(fromGit({ secrets: [secret] }));
  const withReference = (reference: object) =>
    fixture.control.createDeployment(fromImage({ secret_references: [reference] }));
  const reference = { name: 'TOKEN', secret_name: 'agent', secret_key: 'token' };

  test('secrets are returned with their values', async () => {
    const secrets = [
      { name: 'TOKEN', value: 'secret-value' },
      { name: 'EMPTY', value: '' },
    ];
    expect(await fixture.control.createDeployment(fromGit({ secrets }))).toMatchObject({ secrets });
  });

  eachClaim<[object, string]>([
    ['control.secret.name', { value: 'secret-value' }, 'name'],
    ['control.secret.name', { name: 7, value: 'secret-value' }, 'name'],
    ['control.secret.value', { name: 'TOKEN' }, 'value'],
    ['control.secret.value', { name: 'TOKEN', value: 7 }, 'value'],
  ])('the secret %j is refused for its %s', {}, async (secret, field) => {
    expect(await refusalOf(withSecret(secret))).toMatchObject({ status: 422, at: [`body.secrets.0.${field}`] });
  });

  test.each(['PORT', 'DATABASE_URI', 'not a name', ''])(
    'a secret cannot be named %j, and its value is not repeated',
    async (name) => {
      const { status, detail } = await refusalOf(withSecret({ name, value: 'secret-value' }));
      expect([400, 422]).toContain(status);
      expect(detail).not.toContain('secret-value');
    },
  );

  eachClaim([
    ['control.secret-reference.name', 'name'],
    ['control.secret-reference.secret-name', 'secret_name'],
    ['control.secret-reference.secret-key', 'secret_key'],
  ])('a secret reference needs its %s', {}, async (field) => {
    expect(await withReference(reference)).toMatchObject({ secret_references: [reference] });
    for (const value of [undefined, 7])
      expect(await refusalOf(withReference({ ...reference, [field]: value }))).toMatchObject({
        status: 422,
        at: [`body.secret_references.0.${field}`],
      });
  });

  test('a list replaces all secrets', async () => {
    const { id } = await withSecret({ name: 'A', value: 'secret-value' });
    const secrets = [{ name: 'B', value: 'other-value' }];
    expect((await fixture.control.patchDeployment(id, { secrets })).secrets).toEqual(secrets);
    expect((await fixture.control.patchDeployment(id, { secrets: [] })).secrets).toEqual([]);
  });
});
