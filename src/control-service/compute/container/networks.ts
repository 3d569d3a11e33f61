import { databaseAt, makeNetwork, passageTo, wayTo, type Passage } from './database-way.ts';
import { EngineRefusal } from './containers.ts';
import type { Engine } from './engine.ts';

/** How the containers of one agent are connected. */
export interface ContainerWay {
  /** Flags of `create` that put a container into its network. */
  network: readonly string[];
  /** The database's address as they reach it: a secret. */
  databaseUrl: string;
  /** To be called when the first of them is made and before it starts. */
  open(container: string): Promise<void>;
}

/** The networks of a service's containers. */
export interface ContainerNetworks {
  /** @throws EngineRefusal when there can be none. */
  wayFor(databaseUrl: string): Promise<ContainerWay>;
  close(): Promise<void>;
}

/** Makes them; the engine is asked when they are needed. */
export function containerNetworks(engine: Engine, name: string, labels: readonly string[]): ContainerNetworks {
  const passages = new Map<string, Promise<Passage>>();
  let isMade = false;

  function passageFor(databaseUrl: string): Promise<Passage> {
    const { hostname, port } = new URL(databaseUrl);
    const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 5_432) };
    const key = `${target.host} ${target.port}`;
    const known = passages.get(key);
    if (known) return known;
    const made = passageTo(target);
    passages.set(key, made);
    return made;
  }

  return {
    async wayFor(databaseUrl) {
      const way = wayTo(databaseUrl, engine.facts);
      if (way.kind === 'by the engine') {
        const network = way.network === undefined ? [] : [`--network=${way.network}`];
        return { network, databaseUrl: databaseAt(databaseUrl, way.host), open: async () => undefined };
      }
      if (engine.facts.rootless) return { network: [], databaseUrl, open: async () => undefined };
      const made = await makeNetwork(engine, name, labels);
      if (!made.ok) throw new EngineRefusal(made.reason);
      isMade = true;
      const network = [`--network=${name}`];
      if (way.kind === 'direct') return { network, databaseUrl, open: async () => undefined };
      const passage = await passageFor(databaseUrl);
      return {
        network,
        databaseUrl: databaseAt(databaseUrl, made.gateway, passage.port),
        async open(container) {
          // Podman makes a network's end on this machine with its first container, not before.
          if (engine.facts.kind === 'podman') await engine.run(['init', container]);
          await passage.open(made.gateway);
        },
      };
    },
    async close() {
      for (const passage of passages.values()) await (await passage).close();
      // One that somebody else's container is in stays.
      if (isMade) await engine.run(['network', 'rm', name]);
    },
  };
}
