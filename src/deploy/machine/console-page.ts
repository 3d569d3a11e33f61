import type { Clock } from '../../kit/clock.ts';
import { revisionPage } from '../../contract/control/console-page.ts';
import type { ControlService } from '../../contract/control/service.ts';

/** The timeout of the request for the address of the console (ms). */
const readMs = 5_000;

interface ConsoleReading {
  control: Pick<ControlService, 'features'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** The console's page of a revision; undefined if the service has none or does not respond in time. */
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
