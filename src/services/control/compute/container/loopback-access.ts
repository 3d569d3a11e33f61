import { connect, createServer, type Server, type Socket } from 'node:net';
import * as z from 'zod';
import { freePort } from '../../../../kit/free-port.ts';
import type { Engine, EngineFacts } from './engine.ts';

/** How containers reach what listens on this machine's loopback alone: the database, and this service. */
type LoopbackAccess =
  | { kind: 'direct' }
  /** The engine maps a host name or an address to this machine's loopback. */
  | { kind: 'engine'; host: string; network: string | undefined }
  /** A proxy of this service listens on this machine's address in the containers' network. */
  | { kind: 'proxy' };

const loopback = /^(127(\.\d+){3}|localhost|::1|\[::1\])$/;

/** Decides how to reach an address, by its host and the kind of engine. */
export function loopbackAccess(address: string, { kind, rootless, desktop }: EngineFacts): LoopbackAccess {
  if (!loopback.test(new URL(address).hostname)) return { kind: 'direct' };
  if (desktop) {
    const host = kind === 'docker' ? 'host.docker.internal' : 'host.containers.internal';
    return { kind: 'engine', host, network: undefined };
  }
  if (!rootless) return { kind: 'proxy' };
  if (kind === 'docker') return { kind: 'engine', host: '10.0.2.2', network: undefined };
  return { kind: 'engine', host: '10.0.2.2', network: 'slirp4netns:allow_host_loopback=true' };
}

/** The same address at another host, and at another port where one is given. */
export function addressAt(address: string, host: string, port?: number): string {
  const url = new URL(address);
  url.hostname = host;
  // A socket's parameter would take precedence.
  url.searchParams.delete('host');
  if (port !== undefined) url.port = String(port);
  return url.href;
}

const dockerNetwork = z.tuple([z.object({ IPAM: z.object({ Config: z.array(z.object({ Gateway: z.string() })) }) })]);
const podmanNetwork = z.tuple([z.object({ subnets: z.array(z.object({ gateway: z.string() })) })]);

/** This machine's own address on an engine's network, from the output of `network inspect`. */
export function gatewayIn(reported: string): string | undefined {
  const read: unknown = JSON.parse(reported);
  const docker = dockerNetwork.safeParse(read).data?.[0].IPAM.Config[0]?.Gateway;
  return docker ?? podmanNetwork.safeParse(read).data?.[0].subnets[0]?.gateway;
}

/** Creates this service's network where it is missing, with isolated containers where the engine can. Returns this machine's address. */
export async function ensureNetwork(
  engine: Engine,
  name: string,
  labels: readonly string[],
): Promise<{ ok: true; gateway: string } | { ok: false; reason: string }> {
  const existing = await engine.run(['network', 'inspect', name]);
  const isolation = engine.facts.kind === 'docker' ? ['--opt=com.docker.network.bridge.enable_icc=false'] : [];
  const created =
    existing.code === 0 ? existing : await engine.run(['network', 'create', ...isolation, ...labels, name]);
  const inspected = existing.code === 0 ? existing : await engine.run(['network', 'inspect', name]);
  const gateway = inspected.code === 0 ? gatewayIn(inspected.stdout) : undefined;
  if (gateway !== undefined) return { ok: true, gateway };
  const complaint = created.code === 0 ? inspected.problem || 'it has no gateway' : created.problem;
  return { ok: false, reason: `A network for containers could not be made (${engine.name}: ${complaint}).` };
}

/** The most connections of one container through a proxy, so that the others get some too. */
const maxConnectionsPerContainer = 32;

/** Creates a proxy from containers to a host and port, or to a socket. The target authenticates every connection. */
export async function createLoopbackProxy(target: { host: string; port: number } | { path: string }) {
  const port = await freePort();
  let server: Promise<Server> | undefined;
  const open = new Set<Socket>();
  const openFrom = new Map<string, number>();

  async function listen(host: string): Promise<Server> {
    const newServer = createServer((incoming) => {
      const containerAddress = incoming.remoteAddress ?? '';
      const count = openFrom.get(containerAddress) ?? 0;
      if (count >= maxConnectionsPerContainer) return void incoming.destroy();
      openFrom.set(containerAddress, count + 1);
      incoming.once('close', () => {
        const remaining = (openFrom.get(containerAddress) ?? 1) - 1;
        if (remaining === 0) openFrom.delete(containerAddress);
        else openFrom.set(containerAddress, remaining);
      });
      const outgoing = connect(target);
      for (const [one, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        open.add(one);
        one
          .on('error', () => other.destroy())
          .on('close', () => {
            open.delete(one);
            other.destroy();
          });
      }
      incoming.pipe(outgoing).pipe(incoming);
    });
    await new Promise<void>((resolve, reject) => {
      newServer.once('error', reject).listen(port, host, resolve);
    });
    return newServer;
  }

  return {
    /** The port that it will listen on, known before it is opened. */
    port,
    /** Opens it at an address of this machine; does nothing where it is open. */
    async open(host: string): Promise<void> {
      // Containers that start at the same time share it.
      server ??= listen(host).catch((error: unknown) => {
        server = undefined;
        throw error;
      });
      await server;
    },
    async close(): Promise<void> {
      const closing = await server;
      for (const socket of open) socket.destroy();
      if (closing) await new Promise((resolve) => closing.close(resolve));
    },
  };
}
export type LoopbackProxy = Awaited<ReturnType<typeof createLoopbackProxy>>;
