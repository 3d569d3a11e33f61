import { databaseUser, inBase64 } from './environment.ts';
import { metaOf, podMetaOf, podSpecOf, untilDeadline, type Plan } from './input.ts';
import { head, type Manifest, selectorOf } from './manifest.ts';
import { gibibytes, resourcesOf } from './quantities.ts';

const databasePort = 5432;
/** GiB, where no revision ever requested a size. */
const usualStorageGi = 10;
/** The key of the password in the database's Secret. */
export const passwordKey = 'password';

/**
 * The database part: one Postgres. Its claim is separate from the StatefulSet, which could never change it, and never
 * shrinks. Its pod has no revision label: a new revision of the agent must not restart the database.
 */
export function databaseParts(plan: Plan): Manifest[] {
  const metadata = metaOf(plan, 'database');
  const { name } = metadata;
  const matchLabels = selectorOf(plan.base, 'database');
  const { storageGi, maxConnections } = plan.resources.database;
  const former = plan.formerVolume;
  const storage = storageGi ? gibibytes(storageGi) : (former?.storage ?? gibibytes(usualStorageGi));
  // A volume can't change its class.
  const storageClass = former ? former.storageClass : plan.settings.storageClass;
  return [
    { ...head('Secret'), metadata, type: 'Opaque', data: { [passwordKey]: inBase64(plan.databasePassword) } },
    {
      ...head('PersistentVolumeClaim'),
      metadata,
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage } },
        ...(storageClass ? { storageClassName: storageClass } : {}),
      },
    },
    {
      ...head('Service'),
      metadata,
      spec: {
        type: 'ClusterIP',
        clusterIP: 'None',
        selector: matchLabels,
        ports: [{ name: 'postgres', port: databasePort, targetPort: 'postgres', protocol: 'TCP' }],
      },
    },
    {
      ...head('StatefulSet'),
      metadata,
      spec: {
        replicas: 1,
        serviceName: name,
        // Otherwise a pod that never becomes ready would block its replacement.
        podManagementPolicy: 'Parallel',
        selector: { matchLabels },
        template: {
          metadata: podMetaOf(plan, 'database'),
          spec: {
            ...podSpecOf(plan),
            automountServiceAccountToken: false,
            terminationGracePeriodSeconds: 60,
            containers: [databaseContainer(plan, name, maxConnections)],
            volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
          },
        },
      },
    },
  ];
}

function databaseContainer(plan: Plan, name: string, maxConnections: number | undefined): Record<string, unknown> {
  const requested = { command: ['pg_isready', '-U', databaseUser, '-d', databaseUser] };
  return {
    name: 'database',
    image: plan.settings.databaseImage,
    ...(maxConnections ? { args: ['-c', `max_connections=${maxConnections}`] } : {}),
    ports: [{ name: 'postgres', containerPort: databasePort, protocol: 'TCP' }],
    env: [
      { name: 'POSTGRES_USER', value: databaseUser },
      { name: 'POSTGRES_DB', value: databaseUser },
      { name: 'POSTGRES_PASSWORD', valueFrom: { secretKeyRef: { name, key: passwordKey } } },
      // A subfolder of the volume: its file system may have entries of its own, and initdb needs an empty folder.
      { name: 'PGDATA', value: '/var/lib/postgresql/data/pgdata' },
    ],
    ...resourcesOf(plan.resources.database),
    volumeMounts: [{ name: 'data', mountPath: '/var/lib/postgresql/data' }],
    readinessProbe: { exec: requested, periodSeconds: 2, timeoutSeconds: 5 },
    livenessProbe: { exec: requested, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    startupProbe: { exec: requested, timeoutSeconds: 5, ...untilDeadline(plan) },
  };
}

const cachePort = 6379;

/** The cache part: one replica without storage, for its own deployment only. */
export function cacheParts(plan: Plan): Manifest[] {
  const metadata = metaOf(plan, 'cache');
  const matchLabels = selectorOf(plan.base, 'cache');
  return [
    {
      ...head('Service'),
      metadata,
      spec: {
        type: 'ClusterIP',
        selector: matchLabels,
        ports: [{ name: 'redis', port: cachePort, targetPort: 'redis', protocol: 'TCP' }],
      },
    },
    {
      ...head('Deployment'),
      metadata,
      spec: {
        replicas: 1,
        progressDeadlineSeconds: plan.settings.progressDeadlineSeconds,
        selector: { matchLabels },
        // Two replicas would each hold a part of the data.
        strategy: { type: 'Recreate' },
        template: {
          metadata: podMetaOf(plan, 'cache'),
          spec: {
            ...podSpecOf(plan),
            automountServiceAccountToken: false,
            containers: [
              {
                name: 'cache',
                image: plan.settings.cacheImage,
                args: ['--save', '', '--appendonly', 'no'],
                ports: [{ name: 'redis', containerPort: cachePort, protocol: 'TCP' }],
                ...resourcesOf(plan.resources.cache),
                readinessProbe: { tcpSocket: { port: 'redis' }, periodSeconds: 2 },
                livenessProbe: { tcpSocket: { port: 'redis' }, periodSeconds: 10, failureThreshold: 6 },
              },
            ],
          },
        },
      },
    },
  ];
}
