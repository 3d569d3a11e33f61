import { Probot } from 'probot';
import { AppOctokit } from '../../../app/github/octokit.ts';
import type { GitHubForDemo } from '../../../src/demo/github/github.ts';

/** The App as Probot has it, without its patience between writes. */
export const probotOf = ({ app, url }: GitHubForDemo): Probot =>
  new Probot({
    appId: app.id,
    privateKey: app.privateKey,
    secret: app.webhookSecret,
    baseUrl: url,
    logLevel: 'fatal',
    Octokit: AppOctokit,
  });
