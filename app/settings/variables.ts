import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { hasCode, messageOf } from '../../src/errors.ts';
import { didYouMean } from '../../src/diagnostics/did-you-mean.ts';
import { variableNames } from './read-settings.ts';
import type { ReadFile, Variables } from './read-settings.ts';

/**
 * The variables of a process and of the file `.env` in its working folder; the process's own win. One that is empty
 * counts as absent.
 *
 * @throws Error when the file is there and can't be read.
 */
export function variablesHere(folder: string, own: Variables): Variables {
  const file = join(folder, '.env');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return own;
    throw new Error(`${file} can't be read (${messageOf(error)}). Let this user read it, or remove it.`, {
      cause: error,
    });
  }
  const set = Object.entries(own).filter(([, value]) => value !== undefined && value.trim() !== '');
  return { ...parseEnv(text), ...Object.fromEntries(set) };
}

/** Warnings about variables that look like a misspelled one of ours. */
export function mistypedVariables(variables: Variables): string[] {
  return Object.keys(variables).flatMap((name) => {
    if (variableNames.includes(name) || !/^(LANDFALL_|WEBHOOK_|PRIVATE_KEY)/.test(name)) return [];
    const meant = didYouMean(name, variableNames);
    return meant === undefined ? [] : [`${name} is no setting of the App; did you mean ${meant}?`];
  });
}

/** A text file, from the working folder. */
export const readTextFile: ReadFile = (path) => {
  try {
    return { ok: true, text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
};
