import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { OpenApiDocument } from '../../../src/kit/http/openapi.ts';

const root = join(import.meta.dirname, '../../..');

// The generator needs the programming interface that newer versions of the compiler lack.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? import.meta.resolve('typescript-5') : specifier, context),
});

const described = z.looseObject({
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.string(),
        required: z.boolean().optional(),
        schema: z.looseObject({ type: z.unknown() }),
      }),
    )
    .default([]),
  requestBody: z
    .looseObject({ content: z.record(z.string(), z.looseObject({ example: z.unknown().optional() })) })
    .optional(),
});

/** A program that calls every operation by openapi-fetch, with the examples of the document as bodies. */
export function callsOf({ paths }: OpenApiDocument): string {
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { parameters, requestBody } = described.parse(operation);
      const required = Object.groupBy(
        parameters.filter((each) => each.required),
        (each) => each.in,
      );
      const params = Object.fromEntries(
        Object.entries(required).map(([where, names = []]) => [
          where,
          Object.fromEntries(names.map(({ name, schema }) => [name, schema.type === 'array' ? ['text'] : 'text'])),
        ]),
      );
      const json = requestBody?.content['application/json'];
      const body = json ? { body: json.example } : requestBody ? { body: 'bytes' } : {};
      return `await client.${method.toUpperCase()}(${JSON.stringify(path)}, ${JSON.stringify({ params, ...body })});`;
    }),
  );
  return [
    "import createClient from 'openapi-fetch';",
    "import type { paths } from './schema.ts';",
    "const client = createClient<paths>({ baseUrl: 'http://localhost' });",
    ...calls,
    'export {};',
  ].join('\n');
}

// A default is what the service takes for an absent field, which a request may leave out.
const options = { defaultNonNullable: false };

/** What the compiler says of a generated client and a program that uses it; empty where it has nothing to say. */
export async function compileClient(document: OpenApiDocument, program: string): Promise<string> {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const folder = await mkdtemp(join(tmpdir(), 'landfall-client-'));
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'schema.ts'), astToString(await openapiTS(JSON.stringify(document), options)));
    await writeFile(join(folder, 'program.ts'), program);
    const compilerOptions = {
      strict: true,
      target: 'esnext',
      module: 'nodenext',
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: [],
      lib: ['esnext', 'dom', 'dom.iterable'],
    };
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    return await outputOf(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const outputOf = (command: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(command, [...args], (error, stdout, stderr) => resolve(error ? `${stdout}${stderr}` : ''));
  });
