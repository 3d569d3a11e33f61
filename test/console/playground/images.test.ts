import { expect, test } from 'vitest';
import { imageOf } from '../../../src/console/pages/playground/images.ts';

const png = 'iVBORw0KGgo=';
const embedded = { url: `data:image/png;base64,${png}`, isEmbedded: true };
const remote = { url: 'https://pictures.example/a.png', isEmbedded: false };

test.each<[name: string, part: unknown, image: unknown]>([
  ['a data URL of OpenAI', { type: 'image_url', image_url: { url: embedded.url } }, embedded],
  ['a short form', { type: 'image_url', image_url: remote.url }, remote],
  ['the responses API', { type: 'input_image', image_url: embedded.url }, embedded],
  ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }, embedded],
  ['a URL of Anthropic', { type: 'image', source: { type: 'url', url: remote.url } }, remote],
  ['LangChain', { type: 'image', source_type: 'base64', mime_type: 'image/png', data: png }, embedded],
  ['LangChain 1', { type: 'image', mimeType: 'image/png', data: png }, embedded],
  ['a URL of LangChain', { type: 'image', source_type: 'url', url: remote.url }, remote],
  ['an address without encryption', { type: 'image_url', image_url: 'http://pictures.example/a.png' }, undefined],
  ['a script', { type: 'image_url', image_url: 'javascript:alert(1)' }, undefined],
  ['a page', { type: 'image_url', image_url: 'data:text/html;base64,PGI+' }, undefined],
  ['SVG, which may hold scripts', { type: 'image', mimeType: 'image/svg+xml', data: png }, undefined],
  ['a path', { type: 'image', url: '/v1/api-keys' }, undefined],
  ['a file', { type: 'file', data: png, mime_type: 'image/png' }, undefined],
  ['text', 'image', undefined],
])('reads the image of %s', (_name, part, image) => {
  expect(imageOf(part)).toEqual(image);
});
