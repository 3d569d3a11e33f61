import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eachClaim } from '../../../conformance/each-claim.ts';
import { fromImage, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const volume = { name: 'data' };
const mount = { name: 'data', mountPath: '/data' };
const container = { name: 'proxy', image: 'proxy:1' };
const variable = { name: 'A' };

type Spec = Record<string, unknown>;
const withVolume = (fields: Spec): Spec => ({ volumes: [{ ...volume, ...fields }] });
const withMount = (fields: Spec): Spec => ({ volumes: [volume], volume_mounts: [{ ...mount, ...fields }] });
const withSidecar = (fields: Spec): Spec => ({ sidecars: [{ ...container, ...fields }] });
const withVariable = (fields: Spec): Spec => withSidecar({ env: [{ ...variable, ...fields }] });

/** What holds for a sidecar holds for an init container too, but for its restart policy, which has a test of its own. */
const asInitContainers = ({ sidecars, ...spec }: Spec): Spec[] =>
  sidecars === undefined || JSON.stringify(sidecars).includes('restartPolicy')
    ? []
    : [{ ...spec, init_containers: sidecars }];
const everywhere = (specs: readonly Spec[]): Spec[] => specs.flatMap((spec) => [spec, ...asInitContainers(spec)]);

const notAnObject = 'text';
const notAText = 7;
const notALabel = 'Not_A_Label';

/** A claim, accepted values and refused values. */
const rows: readonly (readonly [claim: string, taken: readonly Spec[], refused: readonly Spec[]])[] = [
  ['control.volume.name', [withVolume({})], [withVolume({ name: undefined }), withVolume({ name: notAText })]],
  [
    'control.volume.name-label',
    [withVolume({ name: 'a-1' })],
    [withVolume({ name: notALabel }), withVolume({ name: '-a' })],
  ],
  [
    'control.volume.name-unique',
    [{ volumes: [{ name: 'a' }, { name: 'b' }] }],
    [{ volumes: [{ name: 'a' }, { name: 'a' }] }],
  ],
  ...(
    [
      ['configMap', 'config-map'],
      ['secret', 'secret'],
      ['emptyDir', 'empty-dir'],
      ['persistentVolumeClaim', 'persistent-volume-claim'],
      ['nfs', 'nfs'],
      ['projected', 'projected'],
      ['downwardAPI', 'downward-api'],
      ['csi', 'csi'],
    ] as const
  ).map(
    ([field, claim]) =>
      [
        `control.volume.${claim}`,
        [withVolume({ [field]: { anything: ['at', { all: 1 }] } }), withVolume({ [field]: null }), withVolume({})],
        [withVolume({ [field]: notAnObject })],
      ] as const,
  ),
  ['control.volume-mount.name', [withMount({})], [withMount({ name: undefined }), withMount({ name: notAText })]],
  ['control.volume-mount.name-of-volume', [withMount({ name: 'data' })], [withMount({ name: 'other' })]],
  [
    'control.volume-mount.mount-path',
    [withMount({ mountPath: '/a' })],
    [withMount({ mountPath: undefined }), withMount({ mountPath: notAText })],
  ],
  ['control.volume-mount.sub-path', [withMount({ subPath: 'a' })], [withMount({ subPath: notAText })]],
  [
    'control.volume-mount.mount-propagation',
    [withMount({ mountPropagation: 'None' })],
    [withMount({ mountPropagation: notAText })],
  ],
  ['control.volume-mount.read-only', [withMount({ readOnly: true })], [withMount({ readOnly: 'yes' })]],
  ['control.volume-mount.sub-path-expr', [withMount({ subPathExpr: 'a' })], [withMount({ subPathExpr: notAText })]],
  ['control.container.name', [withSidecar({})], [withSidecar({ name: undefined }), withSidecar({ name: notAText })]],
  ['control.container.name-label', [withSidecar({ name: 'a-1' })], [withSidecar({ name: notALabel })]],
  [
    'control.container.image',
    [withSidecar({ image: 'a:1' })],
    [withSidecar({ image: undefined }), withSidecar({ image: notAText })],
  ],
  [
    'control.container.image-pull-policy',
    ['Always', 'Never', 'IfNotPresent'].map((imagePullPolicy) => withSidecar({ imagePullPolicy })),
    [withSidecar({ imagePullPolicy: 'Sometimes' })],
  ],
  [
    'control.container.command',
    [withSidecar({ command: ['a'] })],
    [withSidecar({ command: 'a' }), withSidecar({ command: [7] })],
  ],
  ['control.container.args', [withSidecar({ args: ['a'] })], [withSidecar({ args: [notAText] })]],
  ['control.container.working-dir', [withSidecar({ workingDir: '/a' })], [withSidecar({ workingDir: notAText })]],
  ['control.container.env', [withSidecar({ env: [variable] })], [withSidecar({ env: variable })]],
  ['control.container.env-from', [withSidecar({ envFrom: [{ a: 1 }] })], [withSidecar({ envFrom: [notAnObject] })]],
  [
    'control.container.resources-limits',
    [withSidecar({ resources: { limits: { cpu: '1' } } })],
    [withSidecar({ resources: { limits: { cpu: 1 } } }), withSidecar({ resources: { limits: 'a' } })],
  ],
  [
    'control.container.resources-requests',
    [withSidecar({ resources: { requests: { cpu: '1' } } })],
    [withSidecar({ resources: { requests: { cpu: 1 } } })],
  ],
  [
    'control.container.volume-mounts',
    [{ volumes: [volume], ...withSidecar({ volumeMounts: [mount] }) }],
    [withSidecar({ volumeMounts: [mount] }), withSidecar({ volumeMounts: 'a' })],
  ],
  [
    'control.container.security-context',
    [withSidecar({ securityContext: { a: 1 } })],
    [withSidecar({ securityContext: 'a' })],
  ],
  [
    'control.container.restart-policy',
    ['Always', 'OnFailure'].map((restartPolicy) => withSidecar({ restartPolicy })),
    [withSidecar({ restartPolicy: 'Never' })],
  ],
  ['control.env-var.name', [withVariable({})], [withVariable({ name: undefined }), withVariable({ name: notAText })]],
  ['control.env-var.value', [withVariable({ value: 'a' })], [withVariable({ value: 7 })]],
  ['control.env-var.value-from', [withVariable({ valueFrom: { a: 1 } })], [withVariable({ valueFrom: 'a' })]],
  [
    'control.env-var.value-from-alone',
    [withVariable({ valueFrom: { a: 1 }, value: '' })],
    [withVariable({ valueFrom: { a: 1 }, value: 'a' })],
  ],
];

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const create = (resource_spec: Spec) =>
    fixture.control.createDeployment(fromImage({ source_config: { resource_spec } }));

  eachClaim(rows.map(([claim, ...row]) => [claim, claim, ...row] as const))('%s', {}, async (_, taken, refused) => {
    for (const spec of everywhere(taken)) expect(await create(spec)).toMatchObject({ source: 'external_docker' });
    for (const spec of everywhere(refused)) {
      const { status, at } = await refusalOf(create(spec));
      expect({ status, inSpec: at.every((place) => place.startsWith('body.source_config.resource_spec.')) }).toEqual({
        status: 422,
        inSpec: true,
      });
    }
  });

  test('accepted values are returned as given', async () => {
    const spec = {
      volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Gi' } }],
      volume_mounts: [{ ...mount, readOnly: true }],
      sidecars: [{ ...container, command: ['run'], volumeMounts: [mount], securityContext: { runAsUser: 7 } }],
    };
    expect((await create(spec)).source_config.resource_spec).toEqual(spec);
  });

  test(
    'a restart policy is refused on an init container',
    { meta: { claims: ['control.container.restart-policy-sidecars'] } },
    async () => {
      const init_containers = [{ ...container, restartPolicy: 'Always' }];
      expect(await refusalOf(create({ init_containers }))).toMatchObject({
        status: 400,
        detail: expect.stringContaining('restartPolicy'),
      });
    },
  );

  test('a variable without a value is empty', { meta: { claims: ['control.env-var.value-default'] } }, async () => {
    const { source_config } = await create({
      ...withVariable({}),
      init_containers: [{ ...container, name: 'init', env: [variable] }],
    });
    expect(source_config.resource_spec).toMatchObject({
      sidecars: [{ env: [{ name: 'A', value: '' }] }],
      init_containers: [{ env: [{ name: 'A', value: '' }] }],
    });
  });
});
