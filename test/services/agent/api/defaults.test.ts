import { expect, test } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../../../src/services/agent/api/document.ts';
import { withoutNames } from '../../../kit/http/lacking.ts';
import { openApi } from '../../../kit/http/shape.ts';
import type { OpenApi, Schema } from '../../../kit/http/shape.ts';
import { publicDocument } from './public-document.ts';

const withDefault = z.looseObject({ default: z.unknown() });
const defaultOf = (schema: Schema | undefined): unknown => withDefault.safeParse(schema).data?.default;

/** The defaults in a description, one line each. */
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
/** The public default `false` would reject `exit` here, unlike an absent field. */
const others = ['RunCreateStateful.checkpoint_during false', 'RunCreateStateless.checkpoint_during false'];

test('defaults of fields and parameters match the public server', () => {
  const lost = defaults(publicDocument).filter((line) => !ours.includes(line));
  expect(lost).toEqual(others);
});
