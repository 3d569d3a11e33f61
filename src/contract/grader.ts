import type { CallOptions } from './call-options.ts';

/** A model that grades answers, at an OpenAI-compatible address. */
export interface Grader {
  baseUrl: string;
  model: string;
  /** The name of the environment variable or secret that holds its key, never the key. */
  key?: string;
  /** Bound of one request, in ms. */
  timeoutMs: number;
}

/** What a judge says. */
export interface Judgement {
  holds: boolean;
  /** In its own words, untrusted. */
  reason: string;
}

/** Sends texts to graders. Every call rejects with a `ServiceError` where its grader brings no such result. */
export interface Graders {
  judge(grader: Grader, prompt: { rules: string; data: string }, options: CallOptions): Promise<Judgement>;
  /** How alike two texts are in meaning, from -1 to 1. */
  similarity(grader: Grader, texts: readonly [string, string], options: CallOptions): Promise<number>;
}
