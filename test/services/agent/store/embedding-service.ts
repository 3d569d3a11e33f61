import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';

const embeddingRequest = z.strictObject({ model: z.string(), input: z.array(z.string()) });

/** A response instead of embeddings; `nothing` closes the connection. */
export type EmbeddingReply = 'nothing' | { status: number; body?: string; headers?: Record<string, string> };

/** A fake of a service with OpenAI's interface: the embedding of a text is its length and 1. */
export interface EmbeddingService {
  url: string;
  requests: { path: string | undefined; authorization: string | undefined; body: z.infer<typeof embeddingRequest> }[];
  /** What the next requests get, in order; embeddings after them. */
  replies: EmbeddingReply[];
  close(): Promise<void>;
}

export async function startEmbeddingService(): Promise<EmbeddingService> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = embeddingRequest.parse(await json(request));
      self.requests.push({ path: request.url, authorization: request.headers.authorization, body });
      const reply = self.replies.shift();
      if (reply === 'nothing') return request.socket.destroy();
      if (reply) return response.writeHead(reply.status, reply.headers).end(reply.body);
      // In any order: each has its index.
      const data = body.input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse();
      return response.end(JSON.stringify({ object: 'list', model: body.model, data }));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the embedding service has no port');
  const self: EmbeddingService = {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests: [],
    replies: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}
