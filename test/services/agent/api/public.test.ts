import { expect, test } from 'vitest';
import { openApiDocument } from '../../../../src/services/agent/api/document.ts';
import { lacking } from '../../../kit/http/lacking.ts';
import { openApi } from '../../../kit/http/shape.ts';
import { differences } from './differences.ts';
import { publicDocument } from './public-document.ts';

const spelling = { places: {}, fields: new Map<string, string>() };
const ours = openApi.parse(openApiDocument());
const found = lacking(publicDocument, ours, spelling);
const listed = differences.flatMap(({ what }) => what);

test('covers the public API, except for the listed differences', () => {
  expect(found.filter((what) => !listed.includes(what))).toEqual([]);
});

test('lists no difference that no longer exists', () => {
  expect(listed.filter((what) => !found.includes(what))).toEqual([]);
});

test('gives a one-sentence reason for each difference', () => {
  expect(differences.filter(({ reason }) => !/^[A-Z].*\.$/.test(reason))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

test('the comparison detects removed parts', () => {
  const less = openApi.parse(structuredClone(openApiDocument()));
  delete less.paths['/store/items'];
  delete less.components.schemas['Assistant']?.properties?.['version'];
  for (const part of ['config', 'context']) delete less.components.schemas['Assistant']?.properties?.[part]?.$ref;
  const status = less.components.schemas['Run']?.properties?.['status'];
  if (status) status.enum = ['pending'];
  const cancel = less.paths['/runs/cancel']?.['post'];
  if (cancel) cancel.parameters = [];
  const missed = lacking(publicDocument, less, spelling).filter((what) => !listed.includes(what));
  expect(missed).toEqual(
    expect.arrayContaining([
      'PUT /store/items',
      'GET /store/items',
      'Assistant.version',
      'Assistant.config.recursion_limit',
      'Run.status success',
      'POST /runs/cancel ?action',
    ]),
  );
});
