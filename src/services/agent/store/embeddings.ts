import { Refusal } from '../refusal.ts';

/** Turns texts into embeddings. The caller checks the result, which may come from any code or service. */
export interface Embeddings {
  /** Returns a list with an embedding for each text. */
  embedDocuments(texts: string[], signal: AbortSignal): Promise<unknown>;
  embedQuery(text: string, signal: AbortSignal): Promise<unknown>;
}

/** Texts could not be embedded: what a response and the error of a graph say. */
export class EmbeddingFailed extends Refusal {
  /** @param status 503 where the same request may succeed later, else 502. */
  constructor(status: 502 | 503, message: string) {
    super(status, message);
    this.name = 'EmbeddingFailed';
  }
}
