/** What the agent server says of itself: `warning: …` begins with its level. */
const warns = /^warning: /;

/**
 * Beginnings of what is an error: a run or a request that failed, a run that ends as one, and what this server can't do.
 * Up to there nothing is a caller's, but for ids, methods and paths, which hold no blank, and names of graphs, in quotes.
 */
const errs = [
  /^Run \S+ of graph "[^"\n]*" failed: /,
  /^Run \S+ [^"{\n:]*; it ends as (error|timeout)\.$/,
  /^Run \S+ ended in a mistake of the server: /,
  /^[A-Z]+ \S+ failed: /,
  /^[A-Z][a-z' -]* failed: /,
];

/**
 * Which output an entry of this server's log is for: who runs it takes standard error for errors, but for what begins
 * with `warning: ` there, and all else for information. What the agent's code prints is not seen here.
 */
export const isForStandardError = (text: string): boolean =>
  warns.test(text) || errs.some((begins) => begins.test(text)) || saysWhatFailed(text);

/** `The run could not be ended: …` and the like. */
function saysWhatFailed(text: string): boolean {
  const [clause = ''] = text.split(': ', 1);
  return clause !== text && /^[A-Z][\w ,'-]*$/.test(clause) && / (?:can't|could not) be [a-z]/.test(clause);
}
