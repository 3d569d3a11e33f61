import {
  addressAt,
  ensureNetwork,
  createLoopbackProxy,
  loopbackAccess,
  type LoopbackProxy,
} from './loopback-access.ts';
import type { AgentSpec } from '../compute.ts';
import { EngineRefusal } from './containers.ts';
import type { Engine } from './engine.ts';

/** The addresses to which an agent's containers connect: its database, and where it reports traces. */
export type AgentEndpoints = Pick<AgentSpec, 'databaseUrl' | 'tracing'>;

export interface NetworkAccess {
  /** Flags of `create` for the container's network. */
  network: readonly string[];
  /** The addresses as the containers reach them: secrets. */
  endpoints: AgentEndpoints;
  /** Call after the first container is created and before it starts. */
  open(container: string): Promise<void>;
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const postgresPort = 5_432;

/** Manages the network and the proxies of containers. `databaseFolder` holds the socket of a database without a port. */
export function containerNetworks(engine: Engine, name: string, labels: readonly string[], databaseFolder?: string) {
  const proxies = new Map<string, Promise<LoopbackProxy>>();
  let hasNetwork = false;

  function proxyFor(address: string): Promise<LoopbackProxy> {
    const { protocol, hostname, port, searchParams } = new URL(address);
    const portNumber = Number(port || (defaultPorts[protocol] ?? postgresPort));
    const target = isSocket(address)
      ? { path: `${databaseFolder ?? searchParams.get('host')}/.s.PGSQL.${portNumber}` }
      : { host: hostname.replace(/^\[|\]$/g, ''), port: portNumber };
    const key = JSON.stringify(target);
    const proxy = proxies.get(key) ?? createLoopbackProxy(target);
    proxies.set(key, proxy);
    return proxy;
  }

  /** Creates the network of this service's containers where it is missing; returns this machine's address on it. */
  async function ownNetwork(): Promise<string> {
    const network = await ensureNetwork(engine, name, labels);
    if (!network.ok) throw new EngineRefusal(network.reason);
    hasNetwork = true;
    return network.gateway;
  }

  return {
    /** Prepares an agent's way to its endpoints. @throws EngineRefusal where the network can't be created. */
    async accessFor({ databaseUrl, tracing }: AgentEndpoints): Promise<NetworkAccess> {
      const accesses = [databaseUrl, ...(tracing ? [tracing.url] : [])].map((address) =>
        loopbackAccess(address, engine.facts),
      );
      const byEngine = accesses.find((access) => access.kind === 'engine');
      const gateway = byEngine || engine.facts.rootless ? undefined : await ownNetwork();
      const proxiesToOpen: LoopbackProxy[] = [];
      const addressInContainer = async (address: string): Promise<string> => {
        const access = loopbackAccess(address, engine.facts);
        if (access.kind === 'engine') {
          if (!isSocket(address)) return addressAt(address, access.host);
          const proxy = await proxyFor(address);
          await proxy.open('127.0.0.1');
          return addressAt(address, access.host, proxy.port);
        }
        if (access.kind === 'direct' || gateway === undefined) return address;
        const proxy = await proxyFor(address);
        proxiesToOpen.push(proxy);
        return addressAt(address, gateway, proxy.port);
      };
      const network = gateway === undefined ? byEngine?.network : name;
      return {
        network: network === undefined ? [] : [`--network=${network}`],
        endpoints: {
          databaseUrl: await addressInContainer(databaseUrl),
          tracing: tracing && { ...tracing, url: await addressInContainer(tracing.url) },
        },
        async open(container) {
          if (gateway === undefined || proxiesToOpen.length === 0) return;
          // Podman creates the network's address on this machine only with the first container.
          if (engine.facts.kind === 'podman') await engine.run(['init', container]);
          for (const proxy of proxiesToOpen) await proxy.open(gateway);
        },
      };
    },
    async close(): Promise<void> {
      for (const proxy of proxies.values()) await (await proxy).close();
      // Fails while another container is attached: the network stays.
      if (hasNetwork) await engine.run(['network', 'rm', name]);
    },
  };
}
export type ContainerNetworks = ReturnType<typeof containerNetworks>;

/** Whether an address names a Unix socket, by the parameter that overrides the host. */
const isSocket = (address: string): boolean => new URL(address).searchParams.get('host')?.startsWith('/') === true;
