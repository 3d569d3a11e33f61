import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

const fields = [
  'SFATAL',
  'VFATAL',
  'C53300',
  'MThis deployment has too many connections to its database. Close some of them, or raise db_max_connections.',
];
const body = Buffer.from(`${fields.join('\0')}\0\0`);
const length = Buffer.alloc(4);
length.writeUInt32BE(body.length + 4);

/** What a client of Postgres reads as the error 53300, whatever it was about to say (ErrorResponse of the protocol). */
const tooManyConnections: Buffer = Buffer.concat([Buffer.from('E'), length, body]);

/** One listening socket; its clients share its limit. */
interface Entrance {
  server: Server;
  limit: number;
  /** Connections that hold a place of the server, the oldest first. */
  open: Set<Connection>;
  /** Those that wait for a place; they count against the bound too. */
  waiting: Socket[];
}

interface Connection {
  incoming: Socket;
  outgoing: Socket;
  isEnding: boolean;
  /** Hangs up; its place is free when the server has let go of it. */
  end(): void;
}

/** How long (ms) an end of a connection may take before it is not waited for any more. */
const slowEndMs = 2_000;

export interface FairRelayOptions {
  /** The socket file of the server. */
  target: string;
  /** Connections of all entrances together; the server has more, which are left to others. */
  places: number;
  /** Ends a process of the server whose client has hung up, which a query that runs on may not notice by itself. */
  terminate?: (pid: number) => void;
}

/** Passes bytes on between clients and a server, and bounds how many connections each group of clients has. */
export type FairRelay = ReturnType<typeof fairRelay>;

/**
 * Makes a relay. A connection holds its place from the moment that it is accepted, whether it says anything or not, and
 * until the server has let go of it: a client that hangs up in the middle of a query has no second place before that.
 *
 * Where no place is left, the entrance that holds the most loses its newest connection to one that waits at an entrance
 * with fewer, so that no group of clients keeps another one out.
 */
export function fairRelay({ target, places, terminate = () => undefined }: FairRelayOptions) {
  const entrances = new Map<string, Entrance>();
  const all = () => [...entrances.values()];
  let held = 0;
  let ending = 0;

  function accept(entrance: Entrance, incoming: Socket): void {
    // What goes wrong ends the connection, by its close event.
    incoming.on('error', () => undefined);
    if (entrance.open.size + entrance.waiting.length >= entrance.limit) {
      incoming.end(tooManyConnections, () => incoming.destroy());
      return;
    }
    entrance.waiting.push(incoming);
    admit();
  }

  function admit(): void {
    for (;;) {
      const waiting = all().filter((entrance) => entrance.waiting.length > 0);
      const lowest = waiting.sort((one, other) => one.open.size - other.open.size)[0];
      if (lowest === undefined) return;
      if (held >= places) return makeRoomFor(lowest, waiting);
      const incoming = lowest.waiting.shift();
      if (incoming) passOn(lowest, incoming);
    }
  }

  function makeRoomFor(poorest: Entrance, waiting: readonly Entrance[]): void {
    if (ending >= waiting.length) return;
    const highest = all().sort((one, other) => other.open.size - one.open.size)[0];
    if (highest === undefined || highest.open.size <= poorest.open.size + 1) return;
    const newest = [...highest.open].findLast(({ isEnding }) => !isEnding);
    newest?.end();
  }

  function passOn(entrance: Entrance, incoming: Socket): void {
    const outgoing = connect({ path: target, allowHalfOpen: true });
    const readPid = backendPidReader();
    let pid: number | undefined;
    let isCounted = false;
    let stuck: NodeJS.Timeout | undefined;
    const uncount = (): void => {
      clearInterval(stuck);
      if (isCounted) ending -= 1;
      isCounted = false;
    };
    const end = (): void => {
      if (connection.isEnding) return;
      connection.isEnding = true;
      ending += 1;
      isCounted = true;
      // A server process that is busy may let go late: it keeps its own place, and no other one from being freed.
      stuck = setInterval(() => {
        if (pid !== undefined) terminate(pid);
        if (isCounted) ending -= 1;
        isCounted = false;
        admit();
      }, slowEndMs).unref();
      incoming.destroy();
      // The server reads the end, and what it still says is thrown away until it closes.
      outgoing.end();
      outgoing.resume();
    };
    const connection: Connection = { incoming, outgoing, isEnding: false, end };
    entrance.open.add(connection);
    held += 1;
    // A client of Postgres never closes one direction alone.
    incoming.on('end', end);
    incoming.on('close', () => {
      if (!outgoing.closed) end();
    });
    outgoing.on('error', () => undefined);
    // A server that ended, or was killed, answers no more: without this the client would wait for ever.
    outgoing.on('end', () => outgoing.destroy());
    outgoing.on('close', () => {
      uncount();
      held -= 1;
      connection.isEnding = true;
      // A client that reads nothing of what the server said last counts until it is disconnected.
      const leave = (): void => {
        entrance.open.delete(connection);
        admit();
      };
      if (incoming.closed) return leave();
      const late = setTimeout(() => incoming.destroy(), slowEndMs).unref();
      incoming.once('close', () => {
        clearTimeout(late);
        leave();
      });
      incoming.end(() => incoming.destroy());
      admit();
    });
    // One that was hung up while it waited.
    if (incoming.destroyed) end();
    outgoing.on('data', function read(chunk: Buffer) {
      const found = readPid(chunk);
      if (found === 'unknown') return;
      pid = found;
      outgoing.off('data', read);
    });
    incoming.pipe(outgoing);
    outgoing.pipe(incoming, { end: false });
  }

  return {
    /** Listens on a socket file; where it does already, only the bound changes. */
    async open(path: string, limit: number): Promise<void> {
      const known = entrances.get(path);
      if (known) {
        known.limit = limit;
        return;
      }
      const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
      const entrance: Entrance = { server, limit, open: new Set(), waiting: [] };
      server.on('connection', (incoming) => accept(entrance, incoming));
      entrances.set(path, entrance);
      // What a thread before this one left.
      rmSync(path, { force: true });
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(path, resolve);
      }).catch((error: unknown) => {
        entrances.delete(path);
        throw error;
      });
    },
    async close(): Promise<void> {
      await Promise.all(
        all().map(({ server, open, waiting }) => {
          const closed = new Promise<void>((resolve) => server.close(() => resolve()));
          for (const socket of waiting.splice(0)) socket.destroy();
          for (const { incoming, outgoing } of open) for (const socket of [incoming, outgoing]) socket.destroy();
          return closed;
        }),
      );
    },
  };
}

/** The most bytes in which a server says the id of its process: greetings and settings come before it. */
const greetingBytes = 65_536;

const byte = (letter: string): number => letter.charCodeAt(0);

/**
 * Returns a function that reads the first bytes of a Postgres server, chunk by chunk, up to its BackendKeyData message.
 * It returns the process id, `unknown` while the message has not arrived, and undefined when it does not come.
 *
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function backendPidReader(): (chunk: Buffer) => number | 'unknown' | undefined {
  let rest = Buffer.alloc(0);
  let hasStarted = false;
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    if (total > greetingBytes) return undefined;
    rest = Buffer.concat([rest, chunk]);
    // The refusal of TLS or GSS encryption is one byte without a length, before the first message.
    if (!hasStarted) while (rest[0] === byte('N')) rest = rest.subarray(1);
    while (rest.length >= 5) {
      hasStarted = true;
      const type = rest[0];
      const end = 1 + rest.readUInt32BE(1);
      if (type === byte('Z') || type === byte('E')) return undefined;
      if (type === byte('K') && rest.length >= 9) return rest.readInt32BE(5);
      if (rest.length < end || end < 5) return 'unknown';
      rest = rest.subarray(end);
    }
    return 'unknown';
  };
}
