const start = /^function peg\$subclass\(/m;
const end = /^var iregexp\$1 = \{$[^]*?^\};$/m;
const toPointer = /^  toPointer\(\) \{$[^]*?^  \}$/m;

/**
 * The JSONPath library without the generated parser that checks patterns of `match` and `search`, for our environment
 * has these functions of its own (src/deploy/file/json-path.ts), and without JSON pointers, which we use none of.
 */
export function trimJsonPath(code: string): string {
  const [from, until] = [start.exec(code), end.exec(code)];
  if (!from || !until || until.index < from.index || !toPointer.test(code))
    throw new Error('what is left out of json-p3 is not where it was');
  const rest = code.slice(0, from.index) + grammar + code.slice(until.index + until[0].length);
  return rest.replace(toPointer, () => `  toPointer() {\n${leftOut}\n  }`);
}

const leftOut = "    throw new Error('this part of a package is not in the bundle');";
const grammar = `var iregexp$1 = {
  SyntaxError,
  parse() {
${leftOut}
  },
};`;
