import { connect, createServer } from 'node:net';

/** A passage to a Postgres which at first answers as one does that is being started. */
export interface StartingPostgres {
  /** The address of the passage, with the user, password and database of the given one. */
  url: string;
  /** How many connections were refused so far. */
  refused(): number;
  close(): Promise<void>;
}

const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up'];
const body = Buffer.from(`${fields.join('\0')}\0\0`);
const length = Buffer.alloc(4);
length.writeUInt32BE(body.length + 4);
const notYet = Buffer.concat([Buffer.from('E'), length, body]);

/** Refuses the first connections with what Postgres says then (57P03), byte for byte, and passes the others on. */
export async function startingPostgres(real: string, refusals: number): Promise<StartingPostgres> {
  const target = new URL(real);
  let refused = 0;
  const open = new Set<{ destroy(): void }>();
  const server = createServer((incoming) => {
    open.add(incoming);
    incoming.on('error', () => undefined);
    if (refused < refusals) {
      refused += 1;
      incoming.once('data', () => incoming.end(notYet));
      return;
    }
    const outgoing = connect({ host: target.hostname, port: Number(target.port) });
    open.add(outgoing);
    outgoing.on('error', () => incoming.destroy());
    incoming.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = new URL(real);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    refused: () => refused,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
