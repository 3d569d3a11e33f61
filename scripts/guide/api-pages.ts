import * as z from 'zod';
import type { OpenApiDocument } from '../../src/kit/http/openapi.ts';
import { table } from '../markdown-table.ts';
import { operationOf, type Operation } from './api-operation.ts';
import { fieldTable, fieldType, typeOf } from './api-schema.ts';
import { readPage, type Page } from './page.ts';

/** A service's interface as pages of the guide, from the document that the service serves. */
export interface ApiSource {
  /** The folder of its pages: `api/control`. */
  folder: string;
  /** The name of the service in the navigation. */
  label: string;
  document: OpenApiDocument;
}

const about = z.object({
  info: z.object({ description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
});

/** A page of each group of operations, after one that lists all, and before one with the schemas. */
export function apiPages({ folder, label, document }: ApiSource): Page[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operationOf(method, path, described)),
  );
  const { info, tags: groups } = about.parse(document);
  const tags = groups.map((tag) => ({
    ...tag,
    file: `${folder}/${tag.name.toLowerCase().replaceAll(' ', '-')}.md`,
    operations: operations.filter((operation) => operation.tags.includes(tag.name)),
  }));
  const linked = (file: string, { summary }: Operation): string =>
    `[${summary}](${file.slice(folder.length + 1)}#${anchorOf(summary)})`;
  const overview = [
    `# API of the ${label.toLowerCase()}`,
    info.description,
    `Generated from its OpenAPI document, which the service serves as \`/openapi.json\`, with a page to try it at \`/docs\`.`,
    ...tags.flatMap(({ name, description, file, operations }) => [
      `## ${name}`,
      description,
      table(
        ['operation', 'method', 'path'],
        operations.map((each) => [linked(file, each), each.method, `\`${each.path}\``]),
      ),
    ]),
  ];
  const schemas = Object.entries(document.components.schemas)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .flatMap(([name, schema]) => [`## ${name}`, fieldTable(schema, '') || `Type: ${typeOf(schema, '')}.`]);
  return [
    readPage(`${folder}/README.md`, label, overview.join('\n\n')),
    ...tags.map(({ name, description, file, operations }) =>
      readPage(file, name, [`# ${label}: ${name}`, description, ...operations.flatMap(operationBlocks)].join('\n\n')),
    ),
    readPage(
      `${folder}/schemas.md`,
      'Schemas',
      [`# ${label}: schemas`, 'The objects that requests and responses have in common.', ...schemas].join('\n\n'),
    ),
  ];
}

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const schemasPage = 'schemas.md';

function operationBlocks({ method, path, ...operation }: Operation): string[] {
  const { summary, description, aliases, scopes, parameters, body, responses } = operation;
  const access =
    scopes === undefined ? 'It needs no key.' : scopes === '' ? '' : `It needs a key with the scope \`${scopes}\`.`;
  return [
    `## ${summary}`,
    `\`\`\`http\n${method} ${path}\n\`\`\``,
    [description, access].filter(Boolean).join(' '),
    ...(aliases.length === 0 ? [] : [`Also at ${aliases.map((each) => `\`${each}\``).join(', ')}.`]),
    ...(parameters.length === 0
      ? []
      : [
          '**Parameters**',
          table(
            ['name', 'in', 'type', 'meaning'],
            parameters.map(({ name, place, schema, required, description }) => [
              `\`${name}\``,
              place,
              fieldType(schema, required, schemasPage),
              description,
            ]),
          ),
        ]),
    ...(body === undefined
      ? []
      : [
          `**Body** (\`${body.type}\`): ${typeOf(body.schema, schemasPage)}`,
          // The fields of a named schema are on the page of schemas.
          ...[fieldTable(body.schema, schemasPage)].filter(Boolean),
          ...(body.example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(body.example, null, 2)}\n\`\`\``]),
        ]),
    '**Responses**',
    table(
      ['status', 'body', 'meaning'],
      responses.map(({ status, schema, type, description }) => [
        status,
        schema === undefined ? (type ?? '') : typeOf(schema, schemasPage),
        description,
      ]),
    ),
  ];
}
