// Writes the tables of inputs and outputs of action.yml into docs/action.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';

const root = dirname(import.meta.dirname);

const action = z.object({
  inputs: z.record(
    z.string(),
    z.object({ description: z.string(), required: z.boolean().optional(), default: z.string().optional() }),
  ),
  outputs: z.record(z.string(), z.object({ description: z.string() })),
});

/** The two tables, by the name of the comments that mark their place in the page. */
export function tables(actionFile: string): Record<string, string> {
  const { inputs, outputs } = action.parse(parse(actionFile));
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  return {
    inputs: [
      '| input | default | what it is |',
      '|---|---|---|',
      ...Object.entries(inputs).map(
        ([name, { description, required, default: value }]) =>
          `| \`${name}\` | ${required ? '**required**' : value === undefined ? '' : `\`${value}\``} | ${cell(description)} |`,
      ),
    ].join('\n'),
    outputs: [
      '| output | what it is |',
      '|---|---|',
      ...Object.entries(outputs).map(([name, { description }]) => `| \`${name}\` | ${cell(description)} |`),
    ].join('\n'),
  };
}

/** The page with each table between its marks. */
export function withTables(page: string, made: Record<string, string>): string {
  return Object.entries(made).reduce((text, [name, table]) => {
    const marks = new RegExp(`(<!-- ${name} -->)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!marks.test(text)) throw new Error(`The page has no marks for the table "${name}"`);
    return text.replace(marks, (_, start: string, end: string) => `${start}\n\n${table}\n\n${end}`);
  }, page);
}

if (import.meta.main) {
  const path = join(root, 'docs/action.md');
  const page = readFileSync(path, 'utf8');
  writeFileSync(path, withTables(page, tables(readFileSync(join(root, 'action.yml'), 'utf8'))));
}
