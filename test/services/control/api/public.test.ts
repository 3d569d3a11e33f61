import { expect, test } from 'vitest';
import { openApiDocument } from '../../../../src/services/control/api/document.ts';
import { lacking } from '../../../kit/http/lacking.ts';
import { openApi } from '../../../kit/http/shape.ts';
import { differences } from './differences.ts';
import { lackingOfAddenda } from './lacking.ts';
import { publicDocument } from './public-document.ts';
import { spelling } from './spelling.ts';

const ours = openApi.parse(openApiDocument('contract'));
const found = [...new Set([...lacking(publicDocument, ours, spelling), ...lackingOfAddenda(ours)])];
const listed = differences.flatMap(({ what }) => what);

test('every part of the public service exists here or is listed with a reason', () => {
  expect(found.filter((what) => !listed.includes(what))).toEqual([]);
});

test('lists nothing that exists here', () => {
  expect(listed.filter((what) => !found.includes(what))).toEqual([]);
});

test('every reason is one distinct sentence', () => {
  expect(differences.filter(({ reason }) => !/^[A-Z].*\.$/.test(reason))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

test('the comparison finds removed parts', () => {
  const less = openApi.parse(structuredClone(openApiDocument('contract')));
  delete less.paths['/v2/listeners'];
  delete less.components.schemas['ResourceSpec']?.properties?.['cache_cpu'];
  const source = less.components.schemas['Deployment']?.properties?.['source'];
  if (source) source.enum = ['github'];
  const missed = lacking(publicDocument, less, spelling).filter((what) => !listed.includes(what));
  expect(missed).toEqual(
    expect.arrayContaining([
      'GET /v2/listeners',
      'POST /v2/listeners',
      'ResourceSpec-Input.redis_cpu',
      'Deployment.source external_docker',
    ]),
  );
});
