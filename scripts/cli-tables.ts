// Makes the table of docs/cli.md from the commands that ask or change a service (src/cli/commands/definitions.ts).
import { definitions, type CommandDefinition } from '../src/cli/commands/definitions.ts';
import { listColumns } from '../src/cli/commands/list.ts';
import { loginColumns } from '../src/cli/commands/login.ts';
import { revisionColumns } from '../src/cli/commands/revisions.ts';
import { runColumns } from '../src/cli/commands/runs.ts';
import { secretColumns } from '../src/cli/commands/secrets.ts';
import { threadColumns } from '../src/cli/commands/threads.ts';
import { table } from './markdown-table.ts';

/** The fields of the rows of a list, by the name of the list in its JSON. */
const rowFields = new Map(
  Object.entries({
    deployments: listColumns.map(({ field }) => field),
    revisions: revisionColumns.map(({ field }) => field),
    runs: runColumns.map(({ field }) => field),
    threads: threadColumns.map(({ field }) => field),
    secrets: secretColumns.map(({ field }) => field),
    services: loginColumns.map(({ field }) => field),
  }).map(([name, fields]) => [`\`${name}\``, fields]),
);

/** The commands with their options and the fields of their JSON. */
export const serviceCommandTable = (): string =>
  table(
    ['command', 'what it does', 'options', '`--json`'],
    definitions.map((definition) => [
      `\`${usageOf(definition)}\``,
      definition.summary,
      (definition.options ?? []).map(({ flags }) => `\`${flags}\``).join(', '),
      jsonOf(definition),
    ]),
  );

function usageOf({ name, args = [] }: CommandDefinition): string {
  const words = args.map((each) => (each.isRequired ? each.name.toUpperCase() : `[${each.name.toUpperCase()}]`));
  return ['landfall', name, ...words].join(' ');
}

function jsonOf({ json }: CommandDefinition): string {
  const fields = rowFields.get(json);
  return fields === undefined ? json : `${json}, each with ${fields.map((field) => `\`${field}\``).join(', ')}`;
}
