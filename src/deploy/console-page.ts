import type { Clock } from '../clock.ts';
import { revisionPage } from '../contract/control/console-page.ts';
import type { ControlService } from '../contract/control/service.ts';

/** How long the service may take to tell where its console is (ms). */
const readMs = 5_000;

interface ConsoleReading {
  control: Pick<ControlService, 'features'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** The console's page of a revision; undefined where the service has none, or does not tell it in time. */
export async function consolePageOf(
  deploymentId: string,
  revisionId: string,
  { control, clock, signal }: ConsoleReading,
): Promise<string | undefined> {
  try {
    const { consoleUrl } = await control.features({ signal, deadline: clock.now() + readMs });
    return revisionPage(consoleUrl, deploymentId, revisionId);
  } catch {
    return undefined;
  }
}
