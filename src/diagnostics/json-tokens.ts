/** One piece of a text that is meant to be JSON. */
export interface JsonToken {
  offset: number;
  text: string;
}

/** A bracket, comma or colon; a text in double quotes, which may lack its end; or a run of anything else. */
const piece = /[{}[\],:]|"[^"\\]*(?:\\[^][^"\\]*)*"?|[^\s{}[\],:"]+/g;

/** The pieces of a text, without the space between them. A text that is no JSON has pieces as well. */
export function* jsonTokens(text: string): Generator<JsonToken> {
  for (const found of text.matchAll(piece)) yield { offset: found.index, text: found[0] };
}
