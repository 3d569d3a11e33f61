import { loggerTo } from '../../../logger.ts';
import { createServer, type RequestListener, type Server } from 'node:http';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { Gateway, type Admission } from '../../../../src/services/control/gateway/gateway.ts';

export const deploymentId = '3f0a4c1e-6a55-4c39-8c0e-0d6c8a1f2b11';
export const apiKey = 'the-key-of-the-owner';

/** A server on a free loopback port that closes after the test. */
export interface Party {
  origin: string;
  server: Server;
  close(): Promise<void>;
}

export async function listen(listener: RequestListener): Promise<Party> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    server,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface GatewayParty extends Party {
  gateway: Gateway;
  /** The stable URL of the only deployment. */
  address: string;
  logged: string[];
}

/** A gateway without other routes behind it. */
export async function listenAsGateway(
  authorize: (id: string, key: string | undefined) => Promise<Admission> = async (id, key) =>
    id !== deploymentId ? 'missing' : key === apiKey ? 'allowed' : { status: 401, detail: 'Send X-Api-Key.' },
  clock: Clock = systemClock,
  isStarting: (id: string) => boolean = () => false,
  idle?: ConstructorParameters<typeof Gateway>[0]['idle'],
): Promise<GatewayParty> {
  const logged: string[] = [];
  const gateway = new Gateway({
    authorize: (id, header) => authorize(id, header('X-Api-Key')),
    isStarting,
    ...(idle ? { idle } : {}),
    clock,
    log: loggerTo((message) => logged.push(message)),
  });
  const party = await listen((request, response) => {
    if (!gateway.handle(request, response)) response.writeHead(418).end();
  });
  return { ...party, gateway, address: `${party.origin}/agents/${deploymentId}`, logged };
}
