import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fieldRules, accepts } from '../../../../src/contract/control/field-rules.ts';
import type { FieldRule } from '../../../../src/contract/control/field-rules.ts';
import { sources } from '../../../../src/contract/control/source.ts';
import type { Source } from '../../../../src/contract/control/source.ts';
import { fieldAt } from '../../../../src/services/control/validation/field.ts';
import { tarballOf } from '../builds/tarballs.ts';
import { fromGit, fromImage, fromUpload, unknownId, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

/** Excludes the namespace: its parent object has to be null as a whole. */
const nullable = (path: string): string => path.replace(/\.k8s_namespace$/, '');

interface Body extends Record<string, unknown> {
  name: string;
  source_config: object;
  source_revision_config: object;
}

let names = 0;
const requests: Readonly<Record<Source, () => Body>> = {
  github: fromGit,
  external_docker: fromImage,
  internal_source: fromUpload,
  internal_docker: () => ({ ...fromImage({ source_revision_config: { image_uri: null } }), source: 'internal_docker' }),
};

/** A body with one more field, by its dotted path. */
function having(body: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const [field = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...body, [field]: value };
  const inner = body[field];
  const inside = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  return { ...body, [field]: having(inside, rest.join('.'), value) };
}

const everySource = fieldRules.flatMap((rule) => sources.map((source) => ({ rule, path: rule.path, source })));
const applying = everySource.filter(({ rule, source }) => accepts(rule, source));
const surplus = everySource.filter(({ rule, source }) => !accepts(rule, source) && rule.patch !== 'read-only');
const required = everySource.filter(({ rule, source }) => rule.requiredFor.includes(source));
/** A tarball belongs to one deployment, so its path is set separately; name and source have their own tests. */
const atCreation = applying.filter(
  ({ path, rule }) => !/tarball_path|^name$|^source$/.test(path) && rule.patch !== 'read-only',
);
const changing = (effect: FieldRule['patch']) => applying.filter(({ rule }) => rule.patch === effect);

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  let listener = '';
  let integration = '';
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
    const compute = { compute_type: 'k8s', compute_id: 'cluster', compute_config: {} };
    listener = (await fixture.store.addListener(fixture.tenantId, { ...compute }))?.id ?? '';
    integration = (await fixture.store.bindInstallation(fixture.tenantId, 7, 'acme')).id;
  });
  afterAll(() => fixture.close());

  /** A valid value of every field, and another one. */
  const values = (): Readonly<Record<string, readonly [value: unknown, other: unknown]>> => ({
    name: [`rule-${(names += 1)}`, 'another-name'],
    source: ['github', 'external_docker'],
    secrets: [[{ name: 'A', value: 'b' }], []],
    secret_references: [[{ name: 'A', secret_name: 's', secret_key: 'k' }], []],
    'source_config.integration_id': [integration, unknownId()],
    'source_config.repo_url': ['https://example.com/acme/agent', 'https://example.com/acme/other'],
    'source_config.deployment_type': ['dev', 'prod'],
    'source_config.build_on_push': [true, false],
    'source_config.custom_url': ['https://agent.example.com', 'https://other.example.com'],
    'source_config.resource_spec': [{ cpu: 1 }, { cpu: 2 }],
    'source_config.listener_id': [listener, unknownId()],
    'source_config.listener_config.k8s_namespace': ['agents', 'others'],
    'source_config.install_command': ['npm ci', 'npm install'],
    'source_config.build_command': ['npm run build', 'npm run other'],
    'source_revision_config.repo_ref': ['main', 'next'],
    'source_revision_config.graph_config_path': ['langgraph.json', 'deep/langgraph.json'],
    'source_revision_config.image_uri': ['registry.example.com/a:1', 'registry.example.com/a:2'],
    'source_revision_config.source_tarball_path': ['uploads/a', 'uploads/b'],
    'source_revision_config.repo_commit_sha': ['a'.repeat(40), 'b'.repeat(40)],
  });
  const valueOf = (path: string, at: 0 | 1 = 0): unknown => values()[path]?.[at];

  /** The request with a field set for its source, and with the other fields that it needs. */
  function giving(source: Source, path: string): Record<string, unknown> {
    const body = having(requests[source](), path, valueOf(path));
    return path.endsWith('k8s_namespace') ? having(body, 'source_config.listener_id', listener) : body;
  }

  test('every rule has a value here', () => {
    expect(Object.keys(values()).toSorted()).toEqual(fieldRules.map(({ path }) => path).toSorted());
  });

  test.each(atCreation)('$path may be set at the creation of $source, and is returned', async ({ path, source }) => {
    const made = await fixture.control.createDeployment(giving(source, path));
    expect(fieldAt(made, path)).toEqual(valueOf(path));
  });

  test.each(surplus)('$path must be left out or null with $source', async ({ rule, path, source }) => {
    const body = having(requests[source](), path, valueOf(path));
    const refusal = await refusalOf(fixture.control.createDeployment(body));
    expect(refusal.status).toBe(400);
    expect(refusal.detail).toContain(`${path} is for ${rule.appliesTo.join(' and ')}`);
    const made = await fixture.control.createDeployment(having(requests[source](), nullable(path), null));
    const again = await refusalOf(fixture.control.patchDeployment(made.id, having({}, path, valueOf(path))));
    expect(again).toMatchObject({ status: 400, detail: expect.stringContaining(`${path} is for`) });
    expect(await fixture.control.getDeployment(made.id)).toEqual(made);
  });

  test.each(required)('$path is required to create $source', async ({ path, source }) => {
    const body = having(requests[source](), path, undefined);
    const refusal = await refusalOf(fixture.control.createDeployment(body));
    const isTop = !path.includes('.');
    const reported = isTop ? refusal.at.join() : refusal.detail;
    expect([
      refusal.status,
      reported.includes(isTop ? `body.${path}` : `${path} is required with the source ${source}.`),
    ]).toEqual([isTop ? 422 : 400, true]);
  });

  test.each(changing('revision'))(
    'a PATCH of $path makes a revision of $source, also with the same value',
    async ({ path, source }) => {
      const { id, latest_revision_id: first } = await fixture.control.createDeployment(requests[source]());
      const tarball = async (): Promise<string> => {
        const { upload_url, object_path } = await fixture.control.requestUpload(id);
        await fixture.put(upload_url, tarballOf());
        return object_path;
      };
      const value = path.endsWith('tarball_path') ? await tarball() : valueOf(path);
      const seen = new Set([first]);
      for (const _round of [1, 2]) {
        const changed = await fixture.control.patchDeployment(id, having({}, path, value));
        expect(seen.has(changed.latest_revision_id)).toBe(false);
        seen.add(changed.latest_revision_id);
        expect(fieldAt(changed, path)).toEqual(value);
      }
      expect((await fixture.control.listRevisions(id, {})).resources).toHaveLength(3);
    },
  );

  test.each([...changing('in-place'), ...changing('next-revision')])(
    'a PATCH of $path of $source makes no revision, and shows at once',
    async ({ path, source }) => {
      const { id, latest_revision_id: first } = await fixture.control.createDeployment(giving(source, path));
      const other = valueOf(path, 1);
      const changed = await fixture.control.patchDeployment(id, having({}, path, other));
      expect([changed.latest_revision_id, fieldAt(changed, path)]).toEqual([first, other]);
    },
  );

  test.each(changing('next-revision'))(
    '$path of $source takes effect with the next revision',
    async ({ path, source }) => {
      const { id, latest_revision_id: first } = await fixture.control.createDeployment(giving(source, path));
      await fixture.control.patchDeployment(id, having({}, path, valueOf(path, 1)));
      const next = await fixture.control.createRevision(id, {});
      const used = async (revision: string): Promise<unknown> =>
        fieldAt(await fixture.store.findRevision(id, revision), path);
      expect([await used(first ?? ''), await used(next.id)]).toEqual([valueOf(path), valueOf(path, 1)]);
    },
  );

  test.each(changing('fixed'))('$path of $source may be restated but not changed', async ({ path, source }) => {
    const made = await fixture.control.createDeployment(giving(source, path === 'source' ? 'secrets' : path));
    const restated = await fixture.control.patchDeployment(made.id, having({}, path, fieldAt(made, path)));
    expect(restated.latest_revision_id).toBe(made.latest_revision_id);
    const other = path === 'source' ? sources.find((word) => word !== source) : valueOf(path, 1);
    const refusal = await refusalOf(fixture.control.patchDeployment(made.id, having({}, path, other)));
    expect(refusal.status).toBe(400);
    expect(refusal.detail).toContain(`${path} was set on create and cannot be changed`);
    expect((await fixture.control.getDeployment(made.id)).latest_revision_id).toBe(made.latest_revision_id);
  });

  test.each(everySource.filter(({ rule }) => rule.patch === 'read-only'))(
    '$path is never set by a caller ($source)',
    async ({ path, source }) => {
      const made = await fixture.control.createDeployment(giving(source, path));
      const changed = await fixture.control.patchDeployment(made.id, having({}, path, valueOf(path)));
      expect([fieldAt(made, path), fieldAt(changed, path)]).toEqual([null, null]);
      expect(changed.latest_revision_id).toBe(made.latest_revision_id);
    },
  );

  test.each(sources)('secrets: [] empties them and makes a revision of %s', async (source) => {
    const made = await fixture.control.createDeployment({
      ...requests[source](),
      secrets: [{ name: 'A', value: 'b' }],
    });
    const emptied = await fixture.control.patchDeployment(made.id, { secrets: [] });
    expect(emptied.secrets).toEqual([]);
    expect(emptied.latest_revision_id).not.toBe(made.latest_revision_id);
  });
});
