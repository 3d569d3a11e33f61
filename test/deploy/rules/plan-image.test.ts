import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker } from '../../../src/deploy/file/desired.ts';
import type { ImageLookup } from '../../../src/contract/control/container.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import { docker, seenImage, notes, request } from './plan-cases.ts';

const digest = (letter: string): string => `registry.example/echo@sha256:${letter.repeat(64)}`;

const planned = (imageUri: string, held: string, image?: ImageLookup, rebuild?: DesiredExternalDocker['rebuild']) => {
  const state = seenImage;
  const config = { image_uri: held };
  const deployment = state.deployment && {
    ...state.deployment,
    source_revision_config: { ...state.deployment.source_revision_config, ...config },
  };
  const live = state.live && {
    ...state.live,
    source_revision_config: { ...state.live.source_revision_config, ...config },
  };
  const desired = { ...docker, imageUri, ...(rebuild ? { rebuild } : {}) };
  return plan(desired, { ...state, deployment, live, latest: live, image });
};
const pinned = (uri: string): ImageLookup => ({ kind: 'pinned', uri });
const tag = 'registry.example/echo:1';

describe('the tag of an image', () => {
  test('is deployed again by its digest when its content moved', () => {
    const moved = planned(tag, digest('a'), pinned(digest('b')));
    expect(request(moved)).toEqual({ source_revision_config: { image_uri: digest('b') } });
    expect(moved).toMatchObject({ kind: 'patch', makesRevision: true });
  });

  test('is live where its digest is', () => {
    expect(planned(tag, digest('a'), pinned(digest('a')))).toMatchObject({ kind: 'none' });
  });

  test('is noted where its registry says nothing', () => {
    const why = 'the registry registry.example did not answer';
    const same = planned(tag, tag, { kind: 'unknown', why });
    expect(same).toMatchObject({ kind: 'none' });
    expect(notes(same)).toEqual([{ code: 'image-unpinned', image: tag, why }]);
  });

  test.each([
    ['a tag', tag, undefined, tag],
    ['a tag with its digest', tag, pinned(digest('a')), digest('a')],
  ])('makes a revision of %s with rebuild: always', (_, imageUri, image, sent) => {
    const held = image ? digest('a') : tag;
    expect(request(planned(imageUri, held, image, 'always'))).toEqual({ source_revision_config: { image_uri: sent } });
  });

  test('makes none with rebuild: never and the same name', () => {
    expect(planned(tag, tag, undefined, 'never')).toMatchObject({ kind: 'none' });
  });
});
