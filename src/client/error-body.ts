import { fromJson } from '../contract/json-text.ts';
import { isObject } from '../contract/json-object.ts';
import type { FieldProblem } from '../contract/service-error.ts';
import type { Mask } from '../contract/mask.ts';

/** The longest error detail (characters). */
export const MAX_DETAIL = 2_000;
const MAX_PROBLEMS = 50;

/** The service's explanation of an error. */
export interface ErrorWords {
  detail?: string;
  problems: FieldProblem[];
}

/**
 * Parses the body of an error response of any shape: `{detail: string}` and `{detail: [{loc, msg, type}]}`
 * (control-service.md, Errors), plain text, Zod issues, common forms of `{error}` and `{message}`, or a web page, of which
 * the title is used. The result is masked and truncated.
 */
export function readErrorBody(body: string, mask: Mask): ErrorWords {
  const parsed = fromJson(body);
  const words = parsed === undefined ? { detail: textOf(body), problems: [] } : problemsIn(parsed);
  const detail = tidy(words.detail ?? '', mask);
  const problems = words.problems.slice(0, MAX_PROBLEMS).map(({ loc, msg, type }) => ({
    loc: loc.map((place) => (typeof place === 'string' ? tidy(place, mask) : place)),
    msg: tidy(msg, mask),
    type: tidy(type, mask),
  }));
  return detail === '' ? { problems } : { detail, problems };
}

/** Puts external text on one line, without control characters and secrets, and truncates it to `MAX_DETAIL`. */
export function tidy(text: string, mask: Mask): string {
  const line = mask(text)
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > MAX_DETAIL ? `${line.slice(0, MAX_DETAIL - 1)}…` : line;
}

function problemsIn(body: unknown): { detail?: string | undefined; problems: FieldProblem[] } {
  if (typeof body === 'string') return { detail: body, problems: [] };
  if (!isObject(body)) return { problems: [] };
  const { detail, error, message } = body;
  if (Array.isArray(detail)) return { problems: detail.flatMap(problemOf) };
  const issues = isObject(error) ? zodIssues(error) : [];
  if (issues.length > 0) return { problems: issues };
  return { detail: [detail, message, error].map(wordsIn).find((words) => words !== undefined), problems: [] };
}

function wordsIn(said: unknown): string | undefined {
  if (typeof said === 'string') return said;
  if (!isObject(said)) return undefined;
  return [said['message'], said['msg'], said['detail']].find((words) => typeof words === 'string');
}

function problemOf(entry: unknown): FieldProblem[] {
  if (typeof entry === 'string') return [{ loc: [], msg: entry, type: '' }];
  if (!isObject(entry) || typeof entry['msg'] !== 'string') return [];
  return [{ loc: placesOf(entry['loc']), msg: entry['msg'], type: wordsIn(entry['type']) ?? '' }];
}

/** The issues of a Zod error. For a union, the first branch says more than the union. */
function zodIssues(error: Record<string, unknown>): FieldProblem[] {
  const { issues } = error;
  if (!Array.isArray(issues)) return [];
  return issues.filter(isObject).flatMap((issue): FieldProblem[] => {
    const branches = issue['unionErrors'];
    const first = Array.isArray(branches) && isObject(branches[0]) ? zodIssues(branches[0]) : [];
    if (first.length > 0) return first;
    return [{ loc: placesOf(issue['path']), msg: wordsIn(issue['message']) ?? '', type: wordsIn(issue['code']) ?? '' }];
  });
}

function placesOf(loc: unknown): (string | number)[] {
  if (!Array.isArray(loc)) return [];
  return loc.filter((place): place is string | number => typeof place === 'string' || typeof place === 'number');
}

function textOf(body: string): string {
  if (!looksLikeHtml(body)) return body;
  return /<title[^<>]*>([^<]*)<\/title>/i.exec(body)?.[1] ?? 'a web page';
}

/** Whether the body is a page of a web server, a proxy or a login instead of JSON. */
export const looksLikeHtml = (body: string): boolean => /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
