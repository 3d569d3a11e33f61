import { expect, test } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../../src/agent-server/openapi/document.ts';
import { withoutNames } from '../../openapi/lacking.ts';
import { openApi } from '../../openapi/shape.ts';
import type { OpenApi, Schema } from '../../openapi/shape.ts';
import { publicDocument } from './public-document.ts';

const withDefault = z.looseObject({ default: z.unknown() });
const defaultOf = (schema: Schema | undefined): unknown => withDefault.safeParse(schema).data?.default;

/** What a description says of absent fields and parameters, a line each. */
function defaults({ paths, components }: OpenApi): string[] {
  const reported = (where: string, schema: Schema | undefined): string[] => {
    const value = defaultOf(schema);
    return value === undefined ? [] : [`${where} ${JSON.stringify(value)}`];
  };
  return [
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters }]) =>
        parameters.flatMap(({ name, schema }) => reported(`${method} ${withoutNames(path)} ?${name}`, schema)),
      ),
    ),
    ...Object.entries(components.schemas).flatMap(([id, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, schema]) => reported(`${id}.${field}`, schema)),
    ),
  ];
}

const ours = defaults(openApi.parse(openApiDocument()));
/** False would say `exit` here, and to be absent does not. */
const others = ['RunCreateStateful.checkpoint_during false', 'RunCreateStateless.checkpoint_during false'];

test('what counts where something is absent is told as the public server tells it', () => {
  const lost = defaults(publicDocument).filter((line) => !ours.includes(line));
  expect(lost).toEqual(others);
});
