import type { Binding } from './settings.ts';

/** The bindings, or the first line that is none. */
export type ReadBindings = { ok: true; bindings: Binding[] } | { ok: false; problem: string };

const line = /^([\w.-]+\/[\w.-]+)\s*=\s*(\S.*)$/;

/** Reads `owner/name=deployment`, one a line or several with commas between them. */
export function readBindings(text: string): ReadBindings {
  const bindings: Binding[] = [];
  for (const written of text.split(/[\n,]/).map((part) => part.trim())) {
    if (written === '') continue;
    const [, repository, deployment] = line.exec(written) ?? [];
    if (repository === undefined || deployment === undefined) {
      return { ok: false, problem: `has ${JSON.stringify(written)}: write owner/name=deployment, one per line` };
    }
    bindings.push({ repository: repository.toLowerCase(), deployment });
  }
  return { ok: true, bindings };
}
