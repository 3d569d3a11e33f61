import { commentReport } from '../../../app/reconcile/report.ts';
import { targetsOn, HandlerFixture } from '../events/handler-fixture.ts';
import { aPullRequest } from '../github/a-pull-request.ts';
import { repository } from '../reconcile/requests.ts';

/** A repository with an open pull request from `next` into `main`, which deploys `support`, and people who comment. */
export class CommentFixture extends HandlerFixture {
  readonly head = this.commit('main');
  readonly pull = aPullRequest(this.commit('next'));
  #comments = 0;

  constructor() {
    super();
    this.branches.set('main', targetsOn('main', 'support'));
    this.githubApi.pulls.set(7, this.pull);
  }

  /** A person comments. @returns the id of the comment. */
  async comment(body: string, { id, delivery, ...more }: Commenting = {}): Promise<number> {
    this.#comments += 1;
    const commentId = id ?? 500 + this.#comments;
    await this.receive(
      'issue_comment',
      commentPayload(body, commentId, this.clock.now(), more),
      delivery ?? `guid-${commentId}`,
    );
    return commentId;
  }

  /** What the comment of the App says to commands. */
  async answer(number = 7): Promise<string> {
    const { headSha, name } = commentReport({ repository, number }, {});
    const report = await this.store.reportOf(repository.repositoryId, headSha, name);
    return report?.wanted.kind === 'comment' ? (report.wanted.content.answer ?? '') : '';
  }

  /** The last answer as one line of plain text. */
  async said(): Promise<string> {
    const sections = (await this.answer()).split('\n\n');
    return (sections[1] ?? sections[0] ?? '')
      .replaceAll(/<\/?code>/g, '')
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
  }

  reactionsTo(commentId: number): string {
    return this.githubApi.reactions.get(commentId)?.join(' ') ?? '';
  }
}

interface Commenting {
  id?: number;
  delivery?: string;
  login?: string;
  issue?: object;
  comment?: object;
  action?: string;
}

/** The payload of a comment. */
export const commentPayload = (
  body: string,
  id: number,
  at: number,
  { login = 'octocat', issue = {}, comment = {}, action = 'created' }: Commenting = {},
) => ({
  action,
  issue: { number: 7, locked: false, pull_request: { url: 'https://api.github.test/pulls/7' }, ...issue },
  comment: {
    id,
    body,
    created_at: new Date(at).toISOString(),
    user: { login, id: 5, type: 'User' },
    performed_via_github_app: null,
    ...comment,
  },
  sender: { login, id: 5, type: 'User' },
});
