import { metaOf, podMetaOf, pullSecrets, type Plan } from './input.ts';
import { head, type Manifest } from './manifest.ts';
import { selectorOf } from './names.ts';
import { resourcesOf } from './quantities.ts';

const port = 6379;

/** The cache part: one replica without storage, for its own deployment only. */
export function cacheParts(plan: Plan): Manifest[] {
  const metadata = metaOf(plan, 'cache');
  const matchLabels = selectorOf(plan.base, 'cache');
  const resources = resourcesOf(plan.resources.cache);
  return [
    {
      ...head('Service'),
      metadata,
      spec: {
        type: 'ClusterIP',
        selector: matchLabels,
        ports: [{ name: 'redis', port, targetPort: 'redis', protocol: 'TCP' }],
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
            ...pullSecrets(plan),
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                name: 'cache',
                image: plan.settings.cacheImage,
                args: ['--save', '', '--appendonly', 'no'],
                ports: [{ name: 'redis', containerPort: port, protocol: 'TCP' }],
                ...(Object.keys(resources).length > 0 ? { resources } : {}),
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
