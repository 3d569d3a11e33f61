import { Probot } from 'probot';
import { AppOctokit } from './github/octokit.ts';
import type { Settings } from './settings/settings.ts';
import type { AppContext } from './context.ts';

/** Registers what is done about each event, at a Probot app. */
export type RegisterHandlers = (app: Probot, context: AppContext) => void;

/**
 * The App as Probot takes it: `app.on('push', ...)` and the rest. It needs no server of Probot's: before it stands
 * our own, which stores; the job of a delivery hands it to `probot.receive`.
 */
export const landfall =
  (context: AppContext, register: RegisterHandlers): ((app: Probot) => void) =>
  (app) =>
    register(app, context);

/** A Probot without a server: GitHub's words for events, and an Octokit for each installation. It prints nothing. */
export const createProbot = ({ appId, privateKey, webhookSecrets: [secret], apiUrl }: Settings['github']): Probot =>
  new Probot({ appId, privateKey, secret, baseUrl: apiUrl, logLevel: 'fatal', Octokit: AppOctokit });
