import type { Coded } from '../../kit/coded.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { commandArguments, commandNames, commands, type ArgumentName, type Command } from './definitions.ts';

/** Why a line that looks like a command is none. */
export interface ParseProblems {
  'unknown-command': { written: string; meant: string };
  'unknown-argument': { command: Command['name']; written: string };
  /** It holds characters that are not seen, or that look like others. */
  'hidden-characters': unknown;
  'too-long': { most: number };
}

/** What a comment says. */
export type ParsedComment =
  | { kind: 'none' }
  /** `isFirst`: another line of the comment begins with a command, too. */
  | { kind: 'command'; command: Command; isFirst?: true }
  | { kind: 'problem'; problem: Coded<ParseProblems> };

/** The longest line that is read as a command (UTF-16 code units). */
export const maxLineLength = 300;

/** How much of a comment is looked through for further commands. */
const maxSearchedLength = 10_000;

/** An argument may hold any characters that are seen, the name of a command only plain ones. */
const plainWord = /^[\x21-\x7e]+$/;
const plainLine = /^[^\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]*$/u;

/**
 * Reads the first line of a comment. A command stands at its very start, so that neither a quote, nor code, nor a
 * sentence about a command is one. The names of others' commands are passed over.
 */
export function parseComment(body: string): ParsedComment {
  const [first = '', ...rest] = body.slice(0, maxSearchedLength).split(/\r\n|[\n\r]/);
  const line = first.trimEnd();
  const [written = '', ...given] = line.split(/[ \t]+/);
  const name = commandNames.find((each) => written === `/${each}`);
  if (name === undefined) return lookAlike(written);
  if (line.length > maxLineLength) return problem({ code: 'too-long', most: maxLineLength });
  if (!plainLine.test(line.replaceAll('\t', ' '))) return problem({ code: 'hidden-characters' });
  const command: Command = { name };
  const open = new Set<ArgumentName>(commands[name].takes);
  for (const each of given) {
    const argument = argumentOf(each, open);
    if (argument === undefined) return problem({ code: 'unknown-argument', command: name, written: each });
    open.delete(argument);
    if (argument === 'times') command.times = Number(each);
    else if (argument === 'ignore-freeze') command.ignoresFreeze = true;
    else command[argument] = each;
  }
  const hasMore = rest.some((each) => commandNames.some((known) => each.split(/\s/, 1)[0] === `/${known}`));
  return { kind: 'command', command, ...(hasMore ? { isFirst: true } : {}) };
}

/** The argument that a word is: the one with the narrowest form that is not given yet. */
const argumentOf = (written: string, open: ReadonlySet<ArgumentName>): ArgumentName | undefined => {
  for (const name of ['times', 'commit', 'ignore-freeze', 'deployment'] as const)
    if (open.has(name) && commandArguments[name].form.test(written)) return name;
  return undefined;
};

/** A slip in the name of a command is said; anything else that begins with a slash is of others. */
function lookAlike(written: string): ParsedComment {
  if (!written.startsWith('/') || written.length > 20) return { kind: 'none' };
  const seen = written.slice(1).replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  const meant = didYouMean(seen, commandNames);
  if (meant === undefined) return { kind: 'none' };
  if (!plainWord.test(written)) return problem({ code: 'hidden-characters' });
  return problem({ code: 'unknown-command', written, meant });
}

/** A command as it is shown. */
export function textOf(parsed: Exclude<ParsedComment, { kind: 'none' }>): string {
  if (parsed.kind === 'command') {
    const { name, deployment, commit, times, ignoresFreeze } = parsed.command;
    return [`/${name}`, deployment, commit, times, ignoresFreeze && 'ignore-freeze']
      .filter((each) => each !== undefined)
      .join(' ');
  }
  const { problem: found } = parsed;
  if (found.code === 'unknown-argument') return `/${found.command}`;
  return found.code === 'unknown-command' ? found.written : '/…';
}

const problem = (found: Coded<ParseProblems>): ParsedComment => ({ kind: 'problem', problem: found });
