import { validateHeaderValue, type IncomingMessage } from 'node:http';

/** The headers of one connection that ask for a WebSocket. */
export const upgradeHeaders = { connection: 'Upgrade', upgrade: 'websocket' };

/**
 * The head of the response that begins a WebSocket: of the agent's headers those that belong to it, because a browser
 * would apply all others to the origin of the service.
 *
 * @throws Error for a value that would not stay in its line.
 */
export function upgradeHead({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = Object.entries(headers).filter(([name]) => /^sec-websocket-(?:accept|extensions|protocol)$/.test(name));
  const lines = [...own, ...Object.entries(upgradeHeaders)].map(([name, value]) => {
    validateHeaderValue(name, String(value));
    return `${name}: ${String(value)}`;
  });
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}
