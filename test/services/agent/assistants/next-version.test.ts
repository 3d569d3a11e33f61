import { describe, expect, test } from 'vitest';
import { nextVersion, type VersionValues } from '../../../../src/services/agent/assistants/store.ts';
import type { AssistantPatch } from '../../../../src/contract/agent/assistant.ts';

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
    ['is the active one for an empty patch', {}, {}],
    ['replaces the context', { context: { deep: { b: 2 } } }, { context: { deep: { b: 2 } } }],
    ['accepts an empty context', { context: {} }, { context: {} }],
    ['replaces the config', { config: { tags: [] } }, { config: { tags: [] } }],
    [
      'merges the metadata by top-level key',
      { metadata: { shift: 2, deep: { b: 2 } } },
      { metadata: { team: 'x', shift: 2, deep: { b: 2 } } },
    ],
    [
      'removes NUL from the name and description',
      { name: 'a\0b', description: '\0' },
      { name: 'a\ufffdb', description: '\ufffd' },
    ],
    ['may switch to another graph', { graph_id: 'chat' }, { graph_id: 'chat' }],
  ])('%s', (_, patch, changed) => {
    expect(nextVersion(active, patch)).toEqual({ ...active, ...changed });
  });
});
