import { Probot } from 'probot';
import { AppOctokit } from '../../../app/github/installation-clients.ts';
import type { GitHubForDemo } from '../../../src/demo/github/github.ts';

/** The App's Octokit as Probot configures it, without the pause between writes. */
export const probotOf = ({ app, url }: Pick<GitHubForDemo, 'app' | 'url'>): Probot =>
  new Probot({
    appId: app.id,
    privateKey: app.privateKey,
    secret: app.webhookSecret,
    baseUrl: url,
    logLevel: 'fatal',
    Octokit: AppOctokit,
  });
