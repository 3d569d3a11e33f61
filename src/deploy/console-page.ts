import { revisionPage } from '../contract/control/console-page.ts';
import type { DeployRun } from './deploy-run.ts';

/** How long the service may take to tell where its console is (ms). */
const readMs = 5_000;

/** The console's page of a revision; undefined where the service has none, or does not tell it in time. */
export async function consolePageOf(revisionId: string | undefined, run: DeployRun): Promise<string | undefined> {
  const deploymentId = run.known.deployment?.id;
  if (!deploymentId || !revisionId) return undefined;
  const { control, clock, signal } = run.request;
  try {
    const { consoleUrl } = await control.features({ signal, deadline: clock.now() + readMs });
    return revisionPage(consoleUrl, deploymentId, revisionId);
  } catch {
    return undefined;
  }
}
