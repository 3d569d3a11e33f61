import * as z from 'zod';
import { isObject } from '../../kit/json-object.ts';

/** A DNS label: the required form of volume and container names. */
export const dnsLabel = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a DNS label: at most 63 lower-case letters, digits and hyphens, no hyphen at either end',
  );

const freeForm = z.record(z.string(), z.unknown()).nullish();
const stringMap = z.record(z.string(), z.string());

export const volumeKinds = [
  'configMap',
  'secret',
  'emptyDir',
  'persistentVolumeClaim',
  'nfs',
  'projected',
  'downwardAPI',
  'csi',
] as const;
/** Other kinds of Kubernetes. They are refused, because ignoring them would leave an empty volume. */
const refusedVolumeKinds = ['hostPath', 'ephemeral', 'image', 'gitRepo', 'iscsi', 'fc', 'local', 'flexVolume'] as const;

/** A volume: its name is unique within the pod, and it is of one kind (docs/design/contract.md#containers). */
export const volume = z.preprocess(
  (written, context) => {
    for (const kind of refusedVolumeKinds) {
      if (!isObject(written) || written[kind] == null) continue;
      const message = `is not a kind of volume that deployments may have; use one of ${volumeKinds.join(', ')}`;
      context.addIssue({ code: 'custom', path: [kind], message });
    }
    return written;
  },
  z
    .strictObject({
      name: dnsLabel,
      configMap: freeForm,
      secret: freeForm,
      emptyDir: freeForm,
      persistentVolumeClaim: freeForm,
      nfs: freeForm,
      projected: freeForm,
      downwardAPI: freeForm,
      csi: freeForm,
    })
    .superRefine((fields, context) => {
      const [first, ...others] = volumeKinds.filter((kind) => fields[kind] != null);
      for (const kind of others) {
        context.addIssue({ code: 'custom', path: [kind], message: `the volume is of the kind ${first} already` });
      }
    }),
);
export type Volume = z.infer<typeof volume>;

/** A mount in a container: `name` is that of a Volume (docs/design/contract.md#containers). */
export const volumeMount = z.strictObject({
  name: z.string().min(1),
  mountPath: z.string().min(1),
  subPath: z.string().nullish(),
  mountPropagation: z.string().nullish(),
  readOnly: z.boolean().nullish(),
  subPathExpr: z.string().nullish(),
});
export type VolumeMount = z.infer<typeof volumeMount>;

/** `valueFrom` cannot stand beside a non-empty `value` (docs/design/contract.md#containers). */
export const envVar = z
  .strictObject({ name: z.string().min(1), value: z.string().nullish(), valueFrom: freeForm })
  .refine(({ value, valueFrom }) => !(value && valueFrom), {
    message: 'valueFrom cannot be used when value is not empty',
    path: ['valueFrom'],
  });
export type EnvVar = z.infer<typeof envVar>;

/** When an image is pulled (docs/design/contract.md#containers). */
const imagePullPolicies = ['Always', 'Never', 'IfNotPresent'] as const;
/** Of sidecars (docs/design/contract.md#containers). */
const containerRestartPolicies = ['Always', 'OnFailure'] as const;

/** An init container or a sidecar (docs/design/contract.md#containers). */
export const container = z.strictObject({
  name: dnsLabel,
  image: z.string().min(1),
  imagePullPolicy: z.enum(imagePullPolicies).nullish(),
  command: z.array(z.string()).nullish(),
  args: z.array(z.string()).nullish(),
  workingDir: z.string().nullish(),
  env: z.array(envVar).nullish(),
  envFrom: z.array(z.record(z.string(), z.unknown())).nullish(),
  resources: z.strictObject({ limits: stringMap.nullish(), requests: stringMap.nullish() }).nullish(),
  volumeMounts: z.array(volumeMount).nullish(),
  securityContext: freeForm,
  restartPolicy: z.enum(containerRestartPolicies).nullish(),
});
export type Container = z.infer<typeof container>;

/** The image that a reference currently points at. A tag can move; a digest cannot. */
export type ImageLookup =
  /** The same image by its digest. */
  | { kind: 'pinned'; uri: string }
  /** `why` is one clause. */
  | { kind: 'unknown'; why: string };

/** Whether a reference contains a digest, which identifies the content. */
export const isPinned = (uri: string): boolean => /@[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,}$/i.test(uri);
