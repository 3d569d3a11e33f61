// The one part of @actions/github that the Action uses: the event of the run. Its main module brings a whole Octokit.
import { Context } from '../node_modules/@actions/github/lib/context.js';

export const context = new Context();
