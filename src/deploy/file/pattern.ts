import { RE2JS, RE2JSSyntaxException } from 're2js';
import { trimEndOf } from '../../kit/plain-text.ts';

/** A pattern that was compiled, or why it could not be. */
export type CompiledPattern = { ok: true; pattern: RE2JS } | { ok: false; problem: string };

/** Characters of a pattern as it is written. */
const maxPatternLength = 1000;

/** Instructions of a compiled pattern. RE2 takes time by this times the length of the text, so both are bounded. */
const maxProgramSize = 1000;

/**
 * Compiles a regular expression of RE2's syntax: no look-around and no back references, and in return no text can
 * make it slow. The problem goes on from the name of the field and quotes nothing.
 */
export function compilePattern(written: string): CompiledPattern {
  if (written.length > maxPatternLength)
    return { ok: false, problem: `must have at most ${maxPatternLength} characters` };
  try {
    const pattern = RE2JS.compile(written);
    if (pattern.programSize() > maxProgramSize) {
      return { ok: false, problem: 'must be simpler: its repetitions unfold to too many steps' };
    }
    return { ok: true, pattern };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const why = trimEndOf(/^error parsing regexp: ([^`]*)/.exec(error.message)?.[1] ?? '', ': ');
    return { ok: false, problem: `must be a regular expression of RE2${why ? `: ${why}` : ''}` };
  }
}
