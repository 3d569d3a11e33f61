import type { IncomingHttpHeaders } from 'node:http';
import type { BaseAddress } from '../../../kit/base-address.ts';
import { classifySource } from '../sessions/own-origin.ts';

/** The addresses of the service, as it was started. */
export interface AgentsAddress {
  /** The public address of agents, of another host name than the console's. */
  agentsUrl?: string | undefined;
  publicUrl?: string | undefined;
  /** The prefix of all paths, where there is no public address. */
  basePath?: string | undefined;
}

/** Browsers resolve every name below `localhost` to their own machine, where no certificate or entry is needed. */
const localName = 'agents.localhost';
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether agents have an origin of their own, which no session uses, so that no response of an agent shares an origin
 * with a session. Only a service behind a web server without a second name has none.
 */
export const agentsHaveOwnOrigin = ({ agentsUrl, publicUrl }: AgentsAddress): boolean =>
  agentsUrl !== undefined || publicUrl === undefined;

/** Whether browsers isolate two addresses. Ports don't count, because cookies ignore them; the protocol must be equal. */
export function areIsolated(console: BaseAddress, agents: BaseAddress): boolean {
  const isOtherName = hostNameOf(console.origin) !== hostNameOf(agents.origin);
  // The console works at every loopback name too.
  return isOtherName && new URL(console.origin).protocol === new URL(agents.origin).protocol && !agents.loopback;
}

/** The host name of an address, without a final dot. */
const hostNameOf = (address: string): string | undefined => URL.parse(address)?.hostname.replace(/\.$/, '');

/** The agents' own origin for a browser that has reached the console at `host`. */
export function agentsUrlFor(host: string | undefined, address: AgentsAddress): string | undefined {
  const { agentsUrl, basePath = '' } = address;
  if (agentsUrl !== undefined || !agentsHaveOwnOrigin(address)) return agentsUrl;
  const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i.exec(host ?? '');
  return loopback ? `http://${localName}${loopback[1] ?? ''}${basePath}` : undefined;
}

/** Whether a request was sent to the agents' own origin. Ignores the port, which may be that of a web server in front. */
export function isAgentsHost(host: string | undefined, address: AgentsAddress): boolean {
  const agentsName = address.agentsUrl === undefined ? localName : hostNameOf(address.agentsUrl);
  return agentsHaveOwnOrigin(address) && hostNameOf(`http://${host ?? ''}`) === agentsName;
}

/** The origin of the console, where one of its pages sent a request to the agents' own origin; else undefined. */
export function consoleOriginOf(
  { origin, host = '' }: Pick<IncomingHttpHeaders, 'origin' | 'host'>,
  address: AgentsAddress,
): string | undefined {
  if (!isAgentsHost(host, address)) return undefined;
  if (address.publicUrl !== undefined) return origin === new URL(address.publicUrl).origin ? origin : undefined;
  const port = /:\d+$/.exec(host)?.[0] ?? '';
  const isConsole = loopbackNames.some(
    (name) => classifySource({ origin, host: `${name}${port}` }, undefined) === 'own',
  );
  return isConsole ? origin : undefined;
}
