// The one part of @actions/github that the Action uses: the run. Its main module brings a whole Octokit.
import { Context } from '../node_modules/@actions/github/lib/context.js';

// The Action reads the event's file itself: this class throws on one that is not JSON or begins with a byte order mark.
const { GITHUB_EVENT_PATH: path } = process.env;
delete process.env.GITHUB_EVENT_PATH;
export const context = new Context();
if (path !== undefined) process.env.GITHUB_EVENT_PATH = path;
