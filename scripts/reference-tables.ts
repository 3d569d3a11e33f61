// Writes what is made from the tables of inputs (src/deploy/file/input-table.ts) and of fields
// (src/contract/control/field-table.ts): the inputs of action.yml, and the tables of reference in docs/; and the figures of
// verdicts (bench/verdict-table.ts).
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from 'prettier';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { verdictTables } from '../bench/verdict-table.ts';
import { environmentVariables } from '../src/cli/deploy-flags.ts';
import { inputs } from '../src/deploy/file/input-table.ts';
import { measures } from '../src/deploy/file/smoke-test.ts';
import { type ReportedComparison, reportedComparison } from '../src/contract/control/verdict.ts';
import { deploymentFields } from '../src/contract/control/field-table.ts';
import { serviceCommandTable } from './cli-tables.ts';
import { commandTable, refusalTable } from './command-tables.ts';
import { errorTable, outcomeTable } from './outcome-tables.ts';
import { fieldSchemas } from './deploy-file-schema.ts';
import { table } from './markdown-table.ts';

/** action.yml with its inputs from the table. */
export function withInputs(actionFile: string): string {
  const made = [...inputs].map(([name, { description, required = false, default: value }]) => [
    name,
    { description, required, ...(value === undefined ? {} : { default: value }) },
  ]);
  const block = stringify({ inputs: Object.fromEntries(made) }, { lineWidth: 0, singleQuote: true });
  return actionFile.replace(/^inputs:\n[^]*?\n(?=\noutputs:\n)/m, () => block);
}

const actionOutputs = z.object({ outputs: z.record(z.string(), z.object({ description: z.string() })) });

/** A page with the tables that it marks, each by its name. */
type Tables = Record<string, string>;

const actionTables = (actionFile: string): Tables => ({
  inputs: table(
    ['input', 'default', 'what it is'],
    [...inputs].map(([name, { description, required, default: value }]) => [
      `\`${name}\``,
      required ? '**required**' : value === undefined ? '' : `\`${value}\``,
      description,
    ]),
  ),
  outputs: table(
    ['output', 'what it is'],
    Object.entries(actionOutputs.parse(parse(actionFile)).outputs).map(([name, { description }]) => [
      `\`${name}\``,
      description,
    ]),
  ),
});

const variableTable = (): string =>
  table(
    ['variable', 'option'],
    [...environmentVariables].map(([name, variable]) => [`\`${variable}\``, `\`--${name}\``]),
  );

function fieldTable(): string {
  const schemas = new Map(Object.entries(fieldSchemas()));
  return table(
    ['field', 'for', 'value', 'meaning'],
    deploymentFields.flatMap(({ name, appliesTo, file, page = file }) =>
      page === undefined ? [] : [[`\`${name}\``, appliesTo?.join(', ') ?? 'all', valueWords(schemas.get(name)), page]],
    ),
  );
}

const written = z.looseObject({
  type: z.string().exactOptional(),
  enum: z.array(z.string()).exactOptional(),
  default: z.unknown().optional(),
  format: z.string().exactOptional(),
  anyOf: z.array(z.unknown()).exactOptional(),
});

/** What may be written for a field, from its schema. */
function valueWords(schema: unknown): string {
  const { type = '', enum: words, default: absent, format: form, anyOf } = written.parse(schema);
  if (anyOf) return anyOf.map(valueWords).join(' or ');
  if (words) return words.map((word) => `\`${word}\`${word === absent ? ' (default)' : ''}`).join(', ');
  return (form && formatWords.get(form)) ?? typeWords.get(type) ?? type;
}

const formatWords = new Map([
  ['uuid', 'uuid'],
  ['uri', 'address'],
]);
const typeWords = new Map([
  ['boolean', '`true`, `false`'],
  ['string', 'text'],
  ['array', 'list'],
  ['object', 'map'],
]);

/** What `comparison` holds, in the JSON of a result: its schema without the times of single answers. */
const comparisonFields: Record<Exclude<keyof ReportedComparison, 'times_ms'>, string> = {
  answers: 'How many answers of each agent are compared: whole pairs, or all of each',
  right_answers: 'How many of them were right',
  unreachable: 'Requests without an answer, of either agent; `answered` compares how many there are',
  beside: '`true`: both answered in turns; `false`: the live agent answered before, or its kept answers stand for it',
  measures: `Each measure: ${measures.map((name) => `\`${name}\``).join(', ')}`,
};
const measureFields: Record<keyof ReportedComparison['measures'][number], string> = {
  measure: 'Its name',
  verdict: '`worse`: the change is not by chance; `no-worse`: the change that is looked for is excluded',
  decides: '`false`: it is only reported, and the verdict of the test does not follow from it',
  p_value: 'How often equal agents would differ so much, with all looks counted, from 0 to 1',
  live: 'Of `answered` the share of the requests, of `pass-rate` the right answers, of times the median in ms, of `tokens` and `cost` the median (`cost` in the currency of `prices`), of nodes and tools the number of different paths',
  new: 'The same of the new agent',
};

function comparisonTable(): string {
  const { properties } = objectSchema.parse(z.toJSONSchema(reportedComparison));
  const measure = objectSchema.parse(z.object({ items: z.unknown() }).parse(properties['measures']).items);
  return table(
    ['field', 'value', 'meaning'],
    [
      ...Object.entries(comparisonFields).map(([name, meaning]) => [
        `\`${name}\``,
        name.endsWith('answers') ? '`live`, `new`: integer' : valueWords(properties[name]),
        meaning,
      ]),
      ...Object.entries(measureFields).map(([name, meaning]) => [
        `\`measures[].${name}\``,
        valueWords(measure.properties[name]),
        meaning,
      ]),
    ],
  );
}

const objectSchema = z.looseObject({ properties: z.record(z.string(), z.unknown()) });

/** The pages that have tables, and their tables in the form that the page is in. */
export async function referenceTables(actionFile: string): Promise<Record<string, Tables>> {
  const formatted = async (markdown: string): Promise<string> =>
    (await format(markdown, { parser: 'markdown' })).trim();
  const { rates, tests } = verdictTables();
  return {
    'docs/action.md': actionTables(actionFile),
    'docs/commands.md': {
      commands: await formatted(commandTable(true)),
      refusals: await formatted(refusalTable(true)),
    },
    'docs/app.md': { commands: await formatted(commandTable()), refusals: await formatted(refusalTable()) },
    'docs/cli.md': {
      'service-commands': await formatted(serviceCommandTable()),
      variables: await formatted(variableTable()),
      comparison: await formatted(comparisonTable()),
    },
    'docs/deploy-file.md': { fields: await formatted(fieldTable()) },
    'docs/outcomes.md': { outcomes: await formatted(outcomeTable()), errors: await formatted(errorTable()) },
    'docs/verdicts.md': { rates: await formatted(rates), tests: await formatted(tests) },
  };
}

/** The page with each table between its marks. @throws where it does not mark one */
export function withTables(page: string, tables: Tables): string {
  return Object.entries(tables).reduce((text, [name, made]) => {
    const between = new RegExp(`<!-- ${name} -->[^]*<!-- /${name} -->`);
    if (!between.test(text)) throw new Error(`the page has no place for the table of ${name}`);
    return text.replace(between, () => `<!-- ${name} -->\n\n${made}\n\n<!-- /${name} -->`);
  }, page);
}

/** Writes the files below `base`. */
export async function writeReferenceTables(base: string): Promise<void> {
  const read = (path: string): string => readFileSync(join(base, path), 'utf8');
  const actionFile = withInputs(read('action.yml'));
  writeFileSync(join(base, 'action.yml'), actionFile);
  for (const [page, tables] of Object.entries(await referenceTables(actionFile))) {
    writeFileSync(join(base, page), withTables(read(page), tables));
  }
}

if (import.meta.main) await writeReferenceTables(dirname(import.meta.dirname));
