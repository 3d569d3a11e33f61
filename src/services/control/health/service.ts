import { systemClock } from '../../../kit/clock.ts';
import { healthQuery, type Health } from '../../../contract/control/health.ts';
import { tenantFinders } from '../revisions/service.ts';
import { valueOrThrow } from '../service/refuse.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { accepted, againstRules } from '../validation/refusal.ts';
import { readShape } from '../validation/shape.ts';
import { healthRange, toPoints } from './range.ts';

/** The health figures of deployments (an addition of ours). */
export function healthOperations(settings: ServiceDependencies) {
  const { store, clock = systemClock } = settings;
  const { ownDeployment } = tenantFinders(settings);
  return {
    async deploymentHealth(id: string, query: unknown): Promise<Health> {
      const call = { operation: 'read health', method: 'GET', path: `/v2/deployments/${id}/health` };
      const { from, until } = valueOrThrow(call, readShape(healthQuery, query, 'query'));
      const deployment = await ownDeployment(call, id);
      const found = healthRange(clock.now(), { from: timeOf(from), until: timeOf(until) });
      const range = valueOrThrow(call, found ? accepted(found) : againstRules([emptyRange]));
      const [rows, deploys] = await Promise.all([
        store.readHealth(deployment.id, range),
        store.readDeploys(deployment.id, range),
      ]);
      return {
        step_seconds: range.stepSeconds,
        points: toPoints(range, rows),
        deploys: deploys.map(({ revision_id, at }) => ({ revision_id, at: at.toISOString() })),
      };
    },
  };
}

const emptyRange =
  'The range is empty. Choose a from that is before until and before now, and an until of the last 31 days.';

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
