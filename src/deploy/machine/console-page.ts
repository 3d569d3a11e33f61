import { withoutTrailingSlashes } from '../../kit/plain-text.ts';
import type { Clock } from '../../kit/clock.ts';
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

/** The page of a revision in the console; undefined where the service has none that a browser may be sent to. */
export function revisionPage(
  consoleUrl: string | undefined,
  deploymentId: string,
  revisionId: string,
): string | undefined {
  const page = deploymentPage(consoleUrl, deploymentId);
  return page && `${page}/revisions/${inMarkdown(encodeURIComponent(revisionId))}`;
}

/** The page of a deployment likewise. */
export function deploymentPage(consoleUrl: string | undefined, deploymentId: string): string | undefined {
  if (consoleUrl === undefined || !URL.canParse(consoleUrl)) return undefined;
  const { protocol, username, password, origin, pathname } = new URL(consoleUrl);
  if (!/^https?:$/.test(protocol) || username || password) return undefined;
  const page = `${origin}${withoutTrailingSlashes(pathname)}/deployments/${encodeURIComponent(deploymentId)}`;
  return inMarkdown(page);
}

/** An address that a link in Markdown may have. */
const inMarkdown = (address: string): string => address.replaceAll('(', '%28').replaceAll(')', '%29');
