import { toPlainNumber } from '../../../kit/exact-number.ts';
import type { Embeddings } from '../store/embeddings.ts';
import type { GraphHost } from './run-workers.ts';

/** The embeddings of an agent in Python. */
export const pythonEmbeddings = (host: GraphHost): Embeddings => ({
  embedDocuments: (texts, signal) => embed(host, texts, false, signal),
  async embedQuery(text, signal) {
    const found = await embed(host, [text], true, signal);
    return Array.isArray(found) ? found[0] : undefined;
  },
});

async function embed(host: GraphHost, texts: string[], isQuery: boolean, signal: AbortSignal): Promise<unknown> {
  const { value } = await (await host.connection()).ask('embed', { texts, is_query: isQuery }, { signal });
  return Array.isArray(value) ? value.map(plainVector) : value;
}

const plainVector = (vector: unknown): unknown => (Array.isArray(vector) ? vector.map(toPlainNumber) : vector);
