import { webhookPrivate } from '../compute/agent-environment.ts';
import { type Plan, metaOf } from './input.ts';
import { type Manifest, environmentName, head, partName } from './manifest.ts';

/** The port of an agent in its pod: a pod has its own address, so the port is free. */
export const agentPort = 8000;

export const databaseUser = 'agent';

/** The address of the agents' database. A secret. */
function databaseAddress({ ownDatabase, spec, databasePassword, base }: Plan): string {
  if (!ownDatabase) return spec.databaseUrl;
  return `postgres://${databaseUser}:${databasePassword}@${partName(base, 'database')}:5432/${databaseUser}`;
}

/** The content of the revision's Secret: the deployment's secrets, and the platform's own. */
function secretValues(plan: Plan): Map<string, string> {
  const { spec } = plan;
  const values = new Map(spec.secrets.map(({ name, value }) => [name, value]));
  values.set('DATABASE_URI', databaseAddress(plan));
  if (spec.tracing) values.set('LANDFALL_TRACING_TOKEN', spec.tracing.token);
  return values;
}

/** The variables that are not secret. The platform's come last, so that no other can override them. */
function openValues({ spec, resources, base, settings }: Plan): Map<string, string> {
  const values = new Map([
    ['HOST', '0.0.0.0'],
    ['PORT', String(agentPort)],
    ['LANDFALL_DEPLOYMENT_ID', spec.deploymentId],
    ['LANDFALL_REVISION_ID', spec.revisionId],
    ['LANDFALL_DRAIN_MS', String(settings.drainMs)],
    ['LANDFALL_WEBHOOK_PRIVATE', webhookPrivate(settings.privateWebhooks)],
  ]);
  if (resources.hasCache) values.set('REDIS_URI', `redis://${partName(base, 'cache')}:6379`);
  if (spec.tracing) values.set('LANDFALL_TRACING_URL', spec.tracing.url);
  return values;
}

/** The variables of an agent's container, with references in place of secrets. */
export function environmentOf(plan: Plan): Record<string, unknown>[] {
  const name = environmentName(plan.base, plan.spec.revisionId);
  const variables = new Map<string, Record<string, unknown>>();
  for (const { name: variable, secret_name, secret_key } of plan.spec.secretReferences) {
    variables.set(variable, { valueFrom: { secretKeyRef: { name: secret_name, key: secret_key } } });
  }
  for (const key of secretValues(plan).keys()) variables.set(key, { valueFrom: { secretKeyRef: { name, key } } });
  for (const [variable, value] of openValues(plan)) variables.set(variable, { value });
  return [...variables].map(([variable, rest]) => ({ name: variable, ...rest }));
}

export function environmentSecret(plan: Plan): Manifest {
  return {
    ...head('Secret'),
    metadata: metaOf(plan, 'agent', environmentName(plan.base, plan.spec.revisionId)),
    type: 'Opaque',
    data: Object.fromEntries([...secretValues(plan)].map(([name, value]) => [name, inBase64(value)])),
  };
}

/** A text in a Secret's encoding. */
export const inBase64 = (text: string): string => Buffer.from(text).toString('base64');
