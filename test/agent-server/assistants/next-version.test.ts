import { describe, expect, test } from 'vitest';
import { nextVersion } from '../../../src/agent-server/assistants/next-version.ts';
import type { VersionValues } from '../../../src/agent-server/assistants/next-version.ts';
import type { AssistantPatch } from '../../../src/contract/agent/assistant.ts';

const active: VersionValues = {
  graph_id: 'echo',
  name: 'Greeter',
  description: 'greets',
  context: { greeting: 'hi', deep: { a: 1 } },
  config: { tags: ['x'], configurable: { k: 1 } },
  metadata: { team: 'x', deep: { a: 1 } },
};

describe('the next version of an assistant', () => {
  test.each<[string, AssistantPatch, Partial<VersionValues>]>([
    ['is the active one where nothing is sent', {}, {}],
    ['has the context that is sent and nothing else', { context: { deep: { b: 2 } } }, { context: { deep: { b: 2 } } }],
    ['has an empty context where an empty one is sent', { context: {} }, { context: {} }],
    ['has the config that is sent and nothing else', { config: { tags: [] } }, { config: { tags: [] } }],
    [
      'has the metadata of both, key by key, not deeper',
      { metadata: { shift: 2, deep: { b: 2 } } },
      { metadata: { team: 'x', shift: 2, deep: { b: 2 } } },
    ],
    [
      'has a name and a description without NUL',
      { name: 'a\0b', description: '\0' },
      { name: 'a\ufffdb', description: '\ufffd' },
    ],
    ['may be of another graph', { graph_id: 'chat' }, { graph_id: 'chat' }],
  ])('%s', (_, patch, changed) => {
    expect(nextVersion(active, patch)).toEqual({ ...active, ...changed });
  });
});
