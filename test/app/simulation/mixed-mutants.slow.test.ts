// The histories of previews, promotions and commands together find each of these Apps, which are wrong in one way.
import { describe, expect, test } from 'vitest';
import type { AppContext } from '../../../app/context.ts';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import type { PreviewStore } from '../../../app/previews/preview-store.ts';
import { markOf } from '../../../src/deploy/rules/preview.ts';
import { overriding } from '../../../src/kit/overriding.ts';
import { appCode } from './app-code.ts';
import { mixedHistories } from './mixed.ts';
import { searched } from './searched.ts';
import type { Code } from './simulation.ts';
import { deploymentIds, repository } from './terms.ts';

const withPreviews = (change: (context: PreviewContext) => Partial<PreviewContext>): Code => ({
  ...appCode,
  previewContext: (context) => ({ ...context, ...change(context) }),
});
const withStore = (change: (store: PreviewStore) => Partial<PreviewStore>): Code =>
  withPreviews(({ previews }) => ({ previews: overriding<PreviewStore, PreviewStore>(previews, change(previews)) }));
const withControl = (change: (control: PreviewContext['control']) => Partial<PreviewContext['control']>): Code =>
  withPreviews(({ control }) => ({ control: overriding<typeof control, typeof control>(control, change(control)) }));
const withQueue = (change: (context: AppContext) => Partial<AppContext>): Code => ({
  ...appCode,
  deploymentQueue: (id, context, signal) => appCode.deploymentQueue(id, { ...context, ...change(context) }, signal),
});

const unswept: Code = { ...appCode, sweep: async () => undefined };

const unlisting = withControl((control) => ({
  listDeployments: async (query) => {
    const { resources, offset } = await control.listDeployments(query);
    return { resources: resources.filter(({ name }) => !name.includes('-pr-')), offset };
  },
}));

const unpinned = withPreviews(({ previews, githubApi }) => {
  const heads = new Map<number, string>();
  return {
    githubApi: {
      pullRequest: async (at) => {
        const pull = await githubApi.pullRequest(at);
        if (pull) heads.set(at.number, pull.headSha);
        return pull;
      },
    },
    previews: overriding<PreviewStore, PreviewStore>(previews, {
      pull: async (key) => {
        const pull = await previews.pull(key);
        const commit = heads.get(key.number);
        return pull?.approval && commit ? { ...pull, approval: { ...pull.approval, commit } } : pull;
      },
    }),
  };
});

const spendthrift = withPreviews(() => ({ secretOf: () => 'production-value' }));

/** What has the name of a preview counts as one. */
const careless = withControl((control) => ({
  getDeployment: async (id, options) => {
    const found = await control.getDeployment(id, options);
    if (!found.name.startsWith('unmarked-pr-1-')) return found;
    const value = markOf({ repositoryId: repository.repositoryId, number: 1, entry: 'unmarked' });
    return { ...found, secrets: [{ name: 'LANDFALL_PREVIEW', value }] };
  },
}));

const blind = withStore((store) => ({
  preview: async (key) => {
    const preview = await store.preview(key);
    return preview && { ...preview, version: 1 };
  },
}));

/** An approval opens whichever commit waits. */
const approving: Code = {
  ...appCode,
  deliver: async (delivery, context) => {
    const { requests } = delivery;
    if (requests.kind !== 'approve') return appCode.deliver(delivery, context);
    const [waiting] = await context.store.openIntents(deploymentIds[1]);
    const commit = waiting?.commit ?? requests.commit;
    return appCode.deliver({ ...delivery, requests: { ...requests, commit } }, context);
  },
};

/** A promotion builds the head of the branch, and neither the proven build nor its commit. */
const latest = withQueue(({ control }) => ({
  control: overriding<typeof control, typeof control>(control, {
    patchDeployment: (id, request, options) => {
      const { buildOf: _, commit: _commit, ...more } = options ?? {};
      return control.patchDeployment(id, request, more);
    },
  }),
}));

/** What a person presses counts anew with each attempt to handle it. */
const repeating: Code = {
  ...appCode,
  deliver: async (delivery, context) => {
    await appCode.deliver(delivery, context);
    const { kind } = delivery.requests;
    const guid = kind === 'rollback' || kind === 'redeploy' ? `${delivery.guid} again` : delivery.guid;
    return appCode.deliver({ ...delivery, guid }, context);
  },
};

/** Whoever comments may give commands. */
const obliging: Code = {
  ...appCode,
  deliver: (delivery, context) => {
    const githubApi = overriding<typeof context.githubApi, typeof context.githubApi>(context.githubApi, {
      permissionOf: async () => 'write',
    });
    return appCode.deliver(delivery, { ...context, githubApi });
  },
};

describe('an invariant fails if', () => {
  test.each<[string, Code, RegExp]>([
    ['previews are never swept', unswept, /after the end/],
    ['a preview without a known id counts as gone', unlisting, /after the end|there twice/],
    ['the approval of a fork is not pinned to a commit', unpinned, /which nobody approved/],
    ['a preview reads the secrets of production', spendthrift, /has the secrets .*production-value/],
    ['a sweep removes deployments of others', careless, /is not the App's, and was changed or removed/],
    ['the run of a former version goes on', blind, /./],
    ['an approval is not pinned to a commit', approving, /was made without the approval/],
    ['a promotion takes the head instead of the proven commit', latest, /is not the build of|was to be promoted/],
    ['a delivery is handled twice', repeating, /made .* times, which is too often/],
    ['a stranger may give commands', obliging, /is of a stranger/],
  ])('%s', { timeout: 300_000 }, async (_, code, found) => {
    const parameters = { numRuns: 1_500, endOnFailure: true, seed: 1 };
    const { reported } = await searched(mixedHistories(14), code, parameters, found);
    expect(reported).toMatch(found);
  });
});
