import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { withoutTrailingSlashes } from '../../kit/plain-text.ts';

/** The console's page of a deployment; undefined where the service has no console. */
export async function consoleAddress(
  { id }: Pick<Deployment, 'id'>,
  { control, baseUrl }: { control: Pick<ControlService, 'features'>; baseUrl: string },
): Promise<string | undefined> {
  const { consoleUrl, verdicts } = await control.features();
  // A service of this machine announces no address, because only this machine reaches it.
  const home = consoleUrl ?? (verdicts ? `${withoutTrailingSlashes(baseUrl)}/console` : undefined);
  if (home === undefined || !URL.canParse(home)) return undefined;
  const { protocol, origin, pathname } = new URL(home);
  if (!/^https?:$/.test(protocol)) return undefined;
  return `${origin}${withoutTrailingSlashes(pathname)}/deployments/${encodeURIComponent(id)}`;
}
