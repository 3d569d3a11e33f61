import { addressAt, makeNetwork, createLoopbackProxy, loopbackAccess, type LoopbackProxy } from './loopback-access.ts';
import type { AgentSpec } from '../compute.ts';
import { EngineRefusal } from './containers.ts';
import type { Engine } from './engine.ts';

/** What the containers of an agent connect to: its database and the tracing endpoint. */
export type AgentEndpoints = Pick<AgentSpec, 'databaseUrl' | 'tracing'>;

export interface NetworkAccess {
  /** Flags of `create` for the container's network. */
  network: readonly string[];
  /** The addresses as the containers reach them: secrets. */
  reached: AgentEndpoints;
  /** Call after the first container is created and before it starts. */
  open(container: string): Promise<void>;
}

const usualPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const postgresPort = 5_432;

/** Contacts the engine only when needed. `databaseFolder` holds the socket of a database that has no port. */
export function containerNetworks(engine: Engine, name: string, labels: readonly string[], databaseFolder?: string) {
  const passages = new Map<string, Promise<LoopbackProxy>>();
  let isMade = false;

  function passageFor(address: string): Promise<LoopbackProxy> {
    const { protocol, hostname, port, searchParams } = new URL(address);
    const number = Number(port || (usualPorts[protocol] ?? postgresPort));
    const target = isSocket(address)
      ? { path: `${databaseFolder ?? searchParams.get('host')}/.s.PGSQL.${number}` }
      : { host: hostname.replace(/^\[|\]$/g, ''), port: number };
    const key = JSON.stringify(target);
    const passage = passages.get(key) ?? createLoopbackProxy(target);
    passages.set(key, passage);
    return passage;
  }

  /** The network of all containers of this service, created where needed; this machine's address on it. */
  async function ownNetwork(): Promise<string> {
    const made = await makeNetwork(engine, name, labels);
    if (!made.ok) throw new EngineRefusal(made.reason);
    isMade = true;
    return made.gateway;
  }

  return {
    /** @throws EngineRefusal when they can't be created. */
    async wayFor({ databaseUrl, tracing }: AgentEndpoints): Promise<NetworkAccess> {
      const ways = [databaseUrl, ...(tracing ? [tracing.url] : [])].map((address) =>
        loopbackAccess(address, engine.facts),
      );
      const byEngine = ways.find((way) => way.kind === 'by the engine');
      const gateway = byEngine || engine.facts.rootless ? undefined : await ownNetwork();
      const opened: LoopbackProxy[] = [];
      const reachedAt = async (address: string): Promise<string> => {
        const way = loopbackAccess(address, engine.facts);
        if (way.kind === 'by the engine') {
          if (!isSocket(address)) return addressAt(address, way.host);
          const passage = await passageFor(address);
          await passage.open('127.0.0.1');
          return addressAt(address, way.host, passage.port);
        }
        if (way.kind === 'direct' || gateway === undefined) return address;
        const passage = await passageFor(address);
        opened.push(passage);
        return addressAt(address, gateway, passage.port);
      };
      const network = gateway === undefined ? byEngine?.network : name;
      return {
        network: network === undefined ? [] : [`--network=${network}`],
        reached: {
          databaseUrl: await reachedAt(databaseUrl),
          tracing: tracing && { ...tracing, url: await reachedAt(tracing.url) },
        },
        async open(container) {
          if (gateway === undefined || opened.length === 0) return;
          // Podman creates its end on this machine only with the first container.
          if (engine.facts.kind === 'podman') await engine.run(['init', container]);
          for (const passage of opened) await passage.open(gateway);
        },
      };
    },
    async close(): Promise<void> {
      for (const passage of passages.values()) await (await passage).close();
      // Fails while another container is attached: the network stays.
      if (isMade) await engine.run(['network', 'rm', name]);
    },
  };
}
export type ContainerNetworks = ReturnType<typeof containerNetworks>;

/** Whether an address is a socket's file, by the parameter that overrides the host. */
const isSocket = (address: string): boolean => new URL(address).searchParams.get('host')?.startsWith('/') === true;
