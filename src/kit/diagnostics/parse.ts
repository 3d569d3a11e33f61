import { LineCounter, parseDocument } from 'yaml';
import { firstAlias, irregularitiesOf, type Irregularity } from './document-rules.ts';
import { jsonTree, jsonFault } from './json-tree.ts';
import { aliasTargetsOf, unfoldsTooFar } from './merge-keys.ts';
import { findIn, positionAt, positionsOf, wordSyntaxError } from './positions.ts';
import { inOrder, problemOfFile, type SourcePositions, type Problem } from './problem.ts';
import { excessOf } from './yaml-limits.ts';

/** A text whose parts know where they stand; not yet held to any schema. */
export type ParsedText = ({ ok: true; value: unknown } & SourcePositions) | { ok: false; problems: Problem[] };

/** Longer texts (characters) are no configuration; reading them would cost seconds. Longer YAML is never read. */
export const maxTextLength = 64 * 1024;

/** What aliases may unfold to, as a multiple of what was written. */
const maxAliasCount = 100;

const maxProblems = 50;

const byteOrderMark = /^\uFEFF/;

/**
 * Reads YAML 1.2 (core schema, one document, no tags), or JSON strictly where the file's name ends in `.json`.
 * An empty text is null. `longest` is for JSON, which is read in linear time.
 */
export function parseText(
  text: string,
  file: string,
  { longest = maxTextLength, isJson = file.endsWith('.json') } = {},
): ParsedText {
  const most = isJson ? longest : maxTextLength;
  if (text.length > most) {
    const message = `this is longer than ${most} characters, so it was not read: take out what is no configuration`;
    return { ok: false, problems: [problemOfFile(file, message)] };
  }
  return isJson ? parseJson(text.replace(byteOrderMark, ' '), file) : parseYaml(text, file);
}

/** The YAML parser would read JSON as well; it takes many times as long, above all where the text is broken. */
function parseJson(text: string, file: string): ParsedText {
  const lines = new LineCounter();
  addLines(text, lines);
  const fault = jsonFault(text);
  if (fault) return { ok: false, problems: problemsAt([fault], lines, file) };
  const { find, oddities } = jsonTree(text);
  if (oddities.length > 0) return { ok: false, problems: problemsAt(oddities.slice(0, maxProblems), lines, file) };
  const value: unknown = JSON.parse(text);
  return { ok: true, value, ...positionsOf(find, lines, file) };
}

function addLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
}

function parseYaml(text: string, file: string): ParsedText {
  const lines = new LineCounter();
  const excess = excessOf(text);
  if (excess) {
    addLines(text, lines);
    return { ok: false, problems: problemsAt([excess], lines, file) };
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    // The pretty form quotes the line, and a secret may stand in it.
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    uniqueKeys: false,
    merge: true,
    logLevel: 'error',
  });
  const targets = aliasTargetsOf(document);
  const faults = [
    ...[...document.errors, ...document.warnings]
      .slice(0, maxProblems)
      .map((error) => ({ offset: error.pos[0], message: wordSyntaxError(error) })),
    ...irregularitiesOf(document, targets).slice(0, maxProblems),
  ];
  if (faults.length > 0) return { ok: false, problems: problemsAt(faults, lines, file) };
  const tooFar = 'the aliases of this text unfold to far more than was written';
  const refused = (): ParsedText => ({
    ok: false,
    problems: problemsAt([{ offset: firstAlias(document), message: tooFar }], lines, file),
  });
  if (unfoldsTooFar(document, targets)) return refused();
  try {
    const value: unknown = document.toJS({ maxAliasCount });
    return { ok: true, value, ...positionsOf((path) => findIn(document, path, targets), lines, file) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return refused();
  }
}

/** Faults as problems, in order; the same fault on the same line once. */
function problemsAt(faults: readonly Irregularity[], lines: LineCounter, file: string): Problem[] {
  const problems: Problem[] = [];
  for (const { offset, message } of faults) {
    const place = positionAt(lines, offset);
    if (problems.some((known) => known.message === message && known.line === place.line)) continue;
    problems.push({ file, ...place, field: '', message });
  }
  return inOrder(problems);
}
