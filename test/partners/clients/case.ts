/** An agent server as its clients know it. */
export interface ClientServer {
  url: string;
  /** The key to send; null where the server needs none. */
  apiKey: string | null;
}

/** What a client does against a server: a row of the table in docs/clients.md. */
export interface ClientCase {
  /** The name of its package on npm, or of the application. */
  client: string;
  version: string;
  feature: string;
  /** Uses the feature as its users do; returns what came of it. It is `works` unless there is more to say. */
  run(server: ClientServer): Promise<string>;
}

/** What a case returns if the feature did all that it is for. */
export const works = 'works';

/** Runs a case; an error becomes the result `fails: <its message>`, in one line that is the same each time. */
export async function resultOf({ run }: ClientCase, server: ClientServer): Promise<string> {
  try {
    return await run(server);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return `fails: ${message.replaceAll(server.url, '').replaceAll(uuid, 'ID').replaceAll(unfitting, ' ').slice(0, 100).trim()}`;
  }
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What would break a line or a cell of a table. */
const unfitting = /[\s|]+/g;
