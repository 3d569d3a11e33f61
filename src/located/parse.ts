import { LineCounter, parseDocument } from 'yaml';
import { firstAlias, odditiesOf } from './document-rules.ts';
import { placeAt, placesIn } from './places.ts';
import { inOrder, type Places, type Problem } from './problem.ts';
import { jsonFault } from './strict-json.ts';
import { wordSyntaxError } from './syntax.ts';

/** A text whose parts know where they stand; not yet held to any schema. */
export type ParsedText = ({ ok: true; value: unknown } & Places) | { ok: false; problems: Problem[] };

/** Longer texts (characters) are no configuration; reading them would cost seconds. */
const longestText = 64 * 1024;

/** What aliases may unfold to, as a multiple of what was written. */
const maxAliasCount = 100;

const mostProblems = 50;

/**
 * Reads YAML 1.2 (core schema, one document, no tags), or JSON strictly where the file's name ends in `.json`.
 * An empty text is null.
 */
export function parseText(text: string, file: string): ParsedText {
  if (text.length > longestText) {
    const message = `this is longer than ${longestText} characters, so it was not read: take out what is no configuration`;
    return { ok: false, problems: [{ file, line: 1, column: 1, field: '', message }] };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    // The pretty form quotes the line, and a secret may stand in it.
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const problems: Problem[] = [];
  const tell = (offset: number, message: string) => {
    if (problems.some((known) => known.message === message && known.line === placeAt(lines, offset).line)) return;
    problems.push({ file, ...placeAt(lines, offset), field: '', message });
  };
  const fault = file.endsWith('.json') ? jsonFault(text) : undefined;
  if (fault) tell(fault.offset, fault.message);
  for (const error of fault ? [] : [...document.errors, ...document.warnings].slice(0, mostProblems)) {
    tell(error.pos[0], wordSyntaxError(error));
  }
  for (const { offset, message } of odditiesOf(document).slice(0, mostProblems)) tell(offset, message);
  if (problems.length > 0) return { ok: false, problems: inOrder(problems) };
  try {
    const value: unknown = document.toJS({ maxAliasCount });
    return { ok: true, value, ...placesIn(document, lines, file) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    tell(firstAlias(document), 'the aliases of this text unfold to far more than was written');
    return { ok: false, problems };
  }
}
