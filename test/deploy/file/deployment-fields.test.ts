import { describe, expect, test } from 'vitest';
import {
  commonFields,
  deploymentFieldNames,
  fieldsOfSource,
  fileFieldNames,
} from '../../../src/deploy/file/deployment-fields.ts';
import { deployable, ownersOf } from '../../../src/deploy/file/source-rules.ts';
import { toKebab } from '../../../src/deploy/file/spelling.ts';
import { deploymentFields } from '../../../src/contract/control/field-table.ts';

const rowsWith = (part: 'input' | 'file'): string[] =>
  deploymentFields.filter((field) => field[part] !== undefined).map(({ name }) => name);

describe('every row of the table of fields has a type, and every type a row', () => {
  test('as an input', () => expect(rowsWith('input').toSorted()).toEqual(deploymentFieldNames.toSorted()));

  test('in the deploy file', () => expect(rowsWith('file').toSorted()).toEqual(fileFieldNames.toSorted()));

  test.each(deployable)('for %s', (source) => {
    const typed = [commonFields, fieldsOfSource[source]].flatMap(({ shape }) => Object.keys(shape).map(toKebab));
    const owned = deploymentFieldNames.filter((name) => name !== 'source' && ownersOf(name).includes(source));
    expect(owned.toSorted()).toEqual(typed.toSorted());
  });
});
