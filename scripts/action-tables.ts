// Writes what is made from the table of inputs (src/config/input-table.ts): the inputs of action.yml, the tables of inputs
// and outputs in docs/action.md, and the table of variables in docs/cli.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from 'prettier';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { variables } from '../src/cli/deploy-flags.ts';
import { inputs } from '../src/config/input-table.ts';

const actionOutputs = z.object({ outputs: z.record(z.string(), z.object({ description: z.string() })) });

/** action.yml with its inputs from the table. */
export function withInputs(actionFile: string): string {
  const made = [...inputs].map(([name, { description, required = false, default: value }]) => [
    name,
    { description, required, ...(value === undefined ? {} : { default: value }) },
  ]);
  const block = stringify({ inputs: Object.fromEntries(made) }, { lineWidth: 0, singleQuote: true });
  return actionFile.replace(/^inputs:\n[^]*?\n(?=\noutputs:\n)/m, () => block);
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The tables of docs/action.md, by the name of the comments that mark their place in the page. */
export function actionTables(actionFile: string): Record<string, string> {
  const { outputs } = actionOutputs.parse(parse(actionFile));
  return {
    inputs: [
      '| input | default | what it is |',
      '|---|---|---|',
      ...[...inputs].map(
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

/** The table of docs/cli.md, in the form of a formatted page. */
export async function variablesTable(): Promise<string> {
  const rows = [...variables].map(([name, variable]) => `| \`${variable}\` | \`--${name}\` |`);
  return (await format(['| variable | option |', '|---|---|', ...rows].join('\n'), { parser: 'markdown' })).trim();
}

/** The page with each table between its marks. */
export function withTables(page: string, made: Record<string, string>): string {
  return Object.entries(made).reduce((text, [name, table]) => {
    const marks = new RegExp(`(<!-- ${name} -->)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!marks.test(text)) throw new Error(`The page has no marks for the table "${name}"`);
    return text.replace(marks, (_, start: string, end: string) => `${start}\n\n${table}\n\n${end}`);
  }, page);
}

/** Writes the files below `base`. */
export async function writeActionTables(base: string): Promise<void> {
  const rewrite = (path: string, change: (text: string) => string): void =>
    writeFileSync(join(base, path), change(readFileSync(join(base, path), 'utf8')));
  const variableRows = await variablesTable();
  rewrite('action.yml', withInputs);
  rewrite('docs/action.md', (page) => withTables(page, actionTables(readFileSync(join(base, 'action.yml'), 'utf8'))));
  rewrite('docs/cli.md', (page) => withTables(page, { variables: variableRows }));
}

if (import.meta.main) await writeActionTables(dirname(import.meta.dirname));
