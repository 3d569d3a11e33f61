import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { valueAt } from '../diagnostics/issues.ts';
import { parseText } from '../diagnostics/parse.ts';

/** What action.yml says of an input. */
export interface InputText {
  description: string;
  default: string | undefined;
}

/**
 * The descriptions and defaults of the Action's inputs, from action.yml: the CLI takes the same inputs and describes
 * them in the same words. The file is next to the sources and next to the build, and is read only to print help.
 */
export function readInputTexts(file = join(import.meta.dirname, '../../action.yml')): (input: string) => InputText {
  const parsed = parseText(readFileSync(file, 'utf8'), 'action.yml');
  if (!parsed.ok) throw new Error('action.yml of this package cannot be read as YAML');
  return (input) => {
    const text = (key: string): string | undefined => {
      const found = valueAt(parsed.value, ['inputs', input, key]);
      return typeof found === 'string' ? found : undefined;
    };
    return { description: text('description') ?? '', default: text('default') };
  };
}
