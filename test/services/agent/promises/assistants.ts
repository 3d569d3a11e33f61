import { expect, test } from 'vitest';
import { ISO, UNKNOWN_ID, refusalOf, UUID, valuesOf } from './fixture.ts';
import type { Given } from './fixture.ts';

/** Section "Assistant", and the endpoints of assistants. */
export function assistantPromises(agent: Given): void {
  test(
    'every graph has a default assistant under its id',
    { meta: { claims: ['agent.assistants.default-exists', 'agent.graphs.addressed-by-id'] } },
    async () => {
      for (const graph of ['echo', 'chat', 'interrupts', 'outer', 'toned', 'made']) {
        const assistant = await agent().getAssistant(graph);
        expect(assistant).toMatchObject({ graph_id: graph, name: graph, metadata: { created_by: 'system' } });
      }
      expect((await agent().getAssistant('echo')).assistant_id).toBe('046b5dc7-2108-582c-9c6c-31d556d138f0');
    },
  );

  test(
    'creates an assistant, returns it, and reads it back',
    {
      meta: {
        claims: [
          'agent.groups.assistants',
          'agent.assistants.create-answers',
          'agent.assistants.create-graph-id',
          'agent.assistants.create-context',
          'agent.assistants.create-name',
          'agent.assistants.get',
          'agent.endpoints.assistants-create',
        ],
      },
    },
    async () => {
      const made = await agent().createAssistant({
        graph_id: 'echo',
        name: 'Morning',
        context: { greeting: 'good morning' },
        metadata: { team: 'north' },
      });
      expect(made).toMatchObject({ graph_id: 'echo', name: 'Morning', metadata: { team: 'north' } });
      expect(await agent().getAssistant(made.assistant_id)).toEqual(made);
    },
  );

  test(
    'an assistant has its fields',
    {
      meta: {
        claims: [
          'agent.assistants.assistant-id',
          'agent.assistants.graph-id',
          'agent.assistants.name',
          'agent.assistants.context',
          'agent.assistants.metadata',
          'agent.assistants.created-at',
          'agent.assistants.updated-at',
        ],
      },
    },
    async () => {
      const context = { greeting: 'ahoy', extra: { b: 1, a: [null, 'x\u0000y'] } };
      const assistant = await agent().createAssistant({ graph_id: 'echo', context });
      expect(assistant.assistant_id).toMatch(UUID);
      expect(assistant.graph_id).toBe('echo');
      expect(assistant.name).toBe('Untitled');
      expect(JSON.stringify(assistant.context)).toBe(JSON.stringify(context));
      expect(assistant.metadata).toEqual({});
      expect(assistant.created_at).toMatch(ISO);
      expect(assistant.updated_at).toMatch(ISO);
    },
  );

  test(
    'a second assistant with the same id conflicts, or returns the first',
    { meta: { claims: ['agent.assistants.assistant-id-unique'] } },
    async () => {
      const first = await agent().createAssistant({ graph_id: 'echo', name: 'first' });
      const again = { graph_id: 'echo', assistant_id: first.assistant_id, name: 'second' };
      expect(await refusalOf(agent().createAssistant(again))).toMatchObject({ kind: 'conflict', status: 409 });
      expect(await agent().createAssistant({ ...again, if_exists: 'do_nothing' })).toEqual(first);
    },
  );

  test(
    'rejects an assistant of an unknown graph',
    { meta: { claims: ['agent.assistants.create-graph-id'] } },
    async () => {
      const refusal = await refusalOf(agent().createAssistant({ graph_id: 'nope' }));
      expect(refusal).toMatchObject({ kind: 'missing', status: 404 });
      expect(refusal.detail).toContain('"echo"');
    },
  );

  test(
    'rejects a context that violates the graph’s schema, field by field',
    { meta: { claims: ['agent.assistants.context-schema'] } },
    async () => {
      const refusal = await refusalOf(
        agent().createAssistant({ graph_id: 'toned', context: { tone: 'loud', volume: 'x' } }),
      );
      expect(refusal.status).toBe(422);
      expect(refusal.problems.map(({ loc }) => loc.join('.'))).toEqual(['body.context.tone', 'body.context.volume']);
      const half = await agent().createAssistant({ graph_id: 'toned', context: { volume: 3 } });
      const run = { assistant_id: half.assistant_id, input: {} };
      expect((await refusalOf(agent().waitRun(run, undefined))).problems).toMatchObject([
        { loc: ['body', 'context', 'tone'] },
      ]);
      const bare = await refusalOf(agent().waitRun({ assistant_id: 'toned', input: {} }, undefined));
      expect(bare).toMatchObject({ status: 422, problems: [{ loc: ['body', 'context', 'tone'] }] });
      expect(valuesOf(await agent().waitRun({ ...run, context: { tone: 'warm' } }, undefined))).toEqual({
        said: 'warm words',
      });
    },
  );

  test(
    'two assistants of a graph behave differently; the graph id runs the default',
    {
      meta: {
        claims: [
          'agent.assistants.configures-graph',
          'agent.assistants.uuid-runs-assistant',
          'agent.assistants.graph-id-runs-default',
          'agent.runs.of-graph-or-assistant',
          'agent.runs.assistant-id-graph',
          'agent.runs.assistant-id-uuid',
        ],
      },
    },
    async () => {
      const says = async (assistant_id: string) =>
        valuesOf(await agent().waitRun({ assistant_id, input: { input: 'Ada' } }, undefined))['output'];
      const morning = await agent().createAssistant({ graph_id: 'echo', context: { greeting: 'good morning' } });
      const night = await agent().createAssistant({ graph_id: 'echo', context: { greeting: 'good night' } });
      expect(await says(morning.assistant_id)).toBe('good morning Ada');
      expect(await says(night.assistant_id)).toBe('good night Ada');
      expect(await says('echo')).toBe('hello Ada');
      expect(await says((await agent().getAssistant('echo')).assistant_id)).toBe('hello Ada');
    },
  );

  test(
    'a search returns the assistants with matching metadata',
    {
      meta: {
        claims: [
          'agent.assistants.search-metadata',
          'agent.assistants.search-answers',
          'agent.endpoints.assistants-search',
        ],
      },
    },
    async () => {
      const mark = crypto.randomUUID();
      const one = await agent().createAssistant({
        graph_id: 'echo',
        metadata: { mark, kind: 'a', deep: { x: 1, y: 2 } },
      });
      const other = await agent().createAssistant({ graph_id: 'chat', metadata: { mark, kind: 'b' } });
      const ids = async (request: object) =>
        (await agent().searchAssistants({ metadata: { mark }, ...request })).map(({ assistant_id }) => assistant_id);
      expect((await ids({})).toSorted()).toEqual([one.assistant_id, other.assistant_id].toSorted());
      expect(await ids({ metadata: { mark, kind: 'b' } })).toEqual([other.assistant_id]);
      expect(await ids({ metadata: { mark, deep: { y: 2 } } })).toEqual([one.assistant_id]);
      expect(await ids({ graph_id: 'chat' })).toEqual([other.assistant_id]);
      expect(await ids({ metadata: { mark: 'none' } })).toEqual([]);
    },
  );

  test(
    'each search result has its config, empty by default',
    { meta: { claims: ['agent.assistants.search-config', 'agent.assistants.search-config-empty'] } },
    async () => {
      const mark = crypto.randomUUID();
      await agent().createAssistant({ graph_id: 'echo', metadata: { mark } });
      await agent().createAssistant({
        graph_id: 'echo',
        metadata: { mark },
        config: { recursion_limit: 7, tags: ['x'] },
      });
      const found = await agent().searchAssistants({ metadata: { mark }, sort_by: 'created_at', sort_order: 'asc' });
      expect(found.map(({ config }) => config)).toEqual([{}, { recursion_limit: 7, tags: ['x'] }]);
      const defaults = await agent().searchAssistants({ metadata: { created_by: 'system' }, limit: 100 });
      expect(defaults.length).toBeGreaterThan(5);
      expect(defaults.map(({ config }) => config)).toEqual(defaults.map(() => ({})));
    },
  );

  test(
    'an assistant configured by its context has a non-empty config',
    { meta: { claims: ['agent.assistants.search-config-configured'] } },
    async () => {
      const mark = crypto.randomUUID();
      const context = { greeting: 'good night' };
      const made = await agent().createAssistant({ graph_id: 'echo', metadata: { mark }, context });
      expect(made).toMatchObject({ context, config: { configurable: context } });
      expect(await agent().searchAssistants({ metadata: { mark } })).toEqual([made]);
      expect(await agent().getAssistant(made.assistant_id)).toEqual(made);
    },
  );

  test(
    'a search pages through the assistants, each once',
    {
      meta: {
        claims: ['agent.assistants.search-limit', 'agent.assistants.search-offset', 'agent.limits.search-paged'],
      },
    },
    async () => {
      const mark = crypto.randomUUID();
      for (let n = 0; n < 12; n += 1)
        await agent().createAssistant({ graph_id: 'echo', name: `n${n}`, metadata: { mark } });
      const page = async (request: object) =>
        (await agent().searchAssistants({ metadata: { mark }, ...request })).map(({ name }) => name);
      expect(await page({})).toHaveLength(10);
      const pages = [
        await page({ limit: 5 }),
        await page({ limit: 5, offset: 5 }),
        await page({ limit: 5, offset: 10 }),
      ];
      expect(pages.map(({ length }) => length)).toEqual([5, 5, 2]);
      expect(new Set(pages.flat()).size).toBe(12);
      expect(await page({ offset: 12 })).toEqual([]);
    },
  );

  test(
    'a patch creates the next version with only the new context',
    {
      meta: {
        claims: [
          'agent.endpoints.assistants-patch',
          'agent.assistants.patch-makes-version',
          'agent.assistants.patch-no-merge',
          'agent.assistants.patch-answers',
          'agent.versioning.version-numbers',
        ],
      },
    },
    async () => {
      const first = await agent().createAssistant({
        graph_id: 'echo',
        name: 'Morning',
        context: { greeting: 'good morning', extra: 1 },
        metadata: { team: 'north' },
      });
      const patched = await agent().patchAssistant(first.assistant_id, {
        context: { greeting: 'good night' },
        metadata: { shift: 2 },
      });
      expect([first.version, patched.version]).toEqual([1, 2]);
      expect(patched).toMatchObject({ name: 'Morning', metadata: { team: 'north', shift: 2 } });
      expect(patched.context).toEqual({ greeting: 'good night' });
      expect(await agent().getAssistant(first.assistant_id)).toEqual(patched);
      expect(await agent().listAssistantVersions(first.assistant_id, {})).toMatchObject([
        { version: 2, context: { greeting: 'good night' } },
        { version: 1, context: { greeting: 'good morning', extra: 1 } },
      ]);
      expect(await agent().listAssistantVersions(first.assistant_id, { limit: 1, offset: 1 })).toHaveLength(1);
    },
  );

  test(
    'runs use the selected version from then on',
    {
      meta: {
        claims: [
          'agent.endpoints.assistants-latest',
          'agent.assistants.latest-version',
          'agent.assistants.latest-activates',
          'agent.assistants.latest-later-runs',
          'agent.versioning.latest-selects',
        ],
      },
    },
    async () => {
      const { assistant_id } = await agent().createAssistant({ graph_id: 'echo', context: { greeting: 'one' } });
      const says = async () =>
        valuesOf(await agent().waitRun({ assistant_id, input: { input: 'Ada' } }, undefined))['output'];
      await agent().patchAssistant(assistant_id, { context: { greeting: 'two' } });
      expect(await says()).toBe('two Ada');
      const back = await agent().setLatestAssistantVersion(assistant_id, { version: 1 });
      expect(back).toMatchObject({ version: 1, context: { greeting: 'one' } });
      expect(await says()).toBe('one Ada');
      expect((await agent().patchAssistant(assistant_id, { context: { greeting: 'three' } })).version).toBe(3);
    },
  );

  test(
    'an unknown assistant or version can’t be patched or selected',
    { meta: { claims: ['agent.assistants.latest-missing-version', 'agent.assistants.patch-missing'] } },
    async () => {
      const { assistant_id } = await agent().createAssistant({ graph_id: 'echo', context: { greeting: 'one' } });
      const refused = { kind: 'missing', status: 404 };
      expect(await refusalOf(agent().setLatestAssistantVersion(assistant_id, { version: 7 }))).toMatchObject(refused);
      expect(await agent().getAssistant(assistant_id)).toMatchObject({ version: 1, context: { greeting: 'one' } });
      expect(await refusalOf(agent().patchAssistant(UNKNOWN_ID, { name: 'x' }))).toMatchObject(refused);
      expect(await refusalOf(agent().setLatestAssistantVersion(UNKNOWN_ID, { version: 1 }))).toMatchObject(refused);
      expect(await refusalOf(agent().listAssistantVersions(UNKNOWN_ID, {}))).toMatchObject(refused);
    },
  );

  test(
    'a created assistant is deleted and then missing; a default one stays',
    { meta: { claims: ['agent.assistants.delete'] } },
    async () => {
      const { assistant_id } = await agent().createAssistant({ graph_id: 'echo' });
      await agent().deleteAssistant(assistant_id);
      expect(await refusalOf(agent().getAssistant(assistant_id))).toMatchObject({ kind: 'missing', status: 404 });
      expect(await refusalOf(agent().deleteAssistant(assistant_id))).toMatchObject({ kind: 'missing' });
      expect(await refusalOf(agent().deleteAssistant('echo'))).toMatchObject({ kind: 'conflict' });
      expect(await refusalOf(agent().getAssistant('nope'))).toMatchObject({ kind: 'missing' });
      expect(await refusalOf(agent().getAssistant(UNKNOWN_ID))).toMatchObject({ kind: 'missing' });
    },
  );
}
