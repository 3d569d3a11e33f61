// Reads a workflow or action file from standard input and prints what GitHub's language service says of it, as JSON.
import { registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';

// Its packages import JSON without the import attribute that Node requires.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url.endsWith('.json') ? { ...resolved, importAttributes: { type: 'json' } } : resolved;
  },
});

const { validate } = await import('@actions/languageservice');
const { TextDocument } = await import('vscode-languageserver-textdocument');

const [kind] = process.argv.slice(2);
const uri = kind === 'action' ? 'file:///action.yml' : 'file:///.github/workflows/deploy.yml';
const found = await validate(TextDocument.create(uri, 'yaml', 0, await text(process.stdin)));
const reported = found.map(({ message, range }) => {
  return `${range.start.line + 1}: ${typeof message === 'string' ? message : message.value}`;
});
process.stdout.write(JSON.stringify(reported));
