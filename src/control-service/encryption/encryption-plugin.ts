import {
  OperationNodeTransformer,
  PrimitiveValueListNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  type ColumnUpdateNode,
  type InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  type RootOperationNode,
  type UnknownRow,
} from 'kysely';
import { sealedBy, type SecretCipher } from './cipher.ts';

/**
 * Encrypts the columns of `sealedColumns` in every query of the builder and decrypts them in every result: all code above
 * the store sees plain values, and no query can forget to encrypt one. Plain values from before encryption are returned
 * as they are. Raw SQL bypasses the plugin.
 */
export function encryptionPlugin(secretCipher: SecretCipher): KyselyPlugin {
  const transformer = new EncryptionTransformer(secretCipher);
  return {
    transformQuery: ({ node, queryId }: PluginTransformQueryArgs): RootOperationNode =>
      transformer.transformNode(node, queryId),
    transformResult: async ({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> => ({
      ...result,
      rows: result.rows.map((row) => opened(row, secretCipher)),
    }),
  };
}

function opened(row: UnknownRow, secretCipher: SecretCipher): UnknownRow {
  const clear: UnknownRow = {};
  for (const [column, held] of sealedColumns) {
    const value = row[column];
    if (typeof value !== 'string' || sealedBy(value) === undefined) continue;
    const text = secretCipher.open(column, value);
    clear[column] = held === 'json' ? JSON.parse(text) : text;
  }
  return { ...row, ...clear };
}

class EncryptionTransformer extends OperationNodeTransformer {
  readonly #cipher: SecretCipher;

  constructor(secretCipher: SecretCipher) {
    super();
    this.#cipher = secretCipher;
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId?: QueryId): InsertQueryNode {
    const written = super.transformInsertQuery(node, queryId);
    const columns = (written.columns ?? []).map(({ column }) => column.name);
    if (!columns.some((column) => sealedColumns.has(column))) return written;
    if (!written.values || !ValuesNode.is(written.values)) throw notAValue(columns.join(', '));
    const rows = written.values.values.map((row) =>
      PrimitiveValueListNode.is(row)
        ? PrimitiveValueListNode.create(row.values.map((value, at) => this.#seal(columns[at], value)))
        : ValueListNode.create(row.values.map((value, at) => this.#sealNode(columns[at], value))),
    );
    return { ...written, values: ValuesNode.create(rows) };
  }

  protected override transformColumnUpdate(node: ColumnUpdateNode, queryId?: QueryId): ColumnUpdateNode {
    const written = super.transformColumnUpdate(node, queryId);
    return { ...written, value: this.#sealNode(columnOf(written.column), written.value) };
  }

  #sealNode(column: string | undefined, node: OperationNode): OperationNode {
    if (column === undefined || !sealedColumns.has(column)) return node;
    if (!ValueNode.is(node)) throw notAValue(column);
    return ValueNode.create(this.#seal(column, node.value));
  }

  #seal(column: string | undefined, value: unknown): unknown {
    const held = column === undefined ? undefined : sealedColumns.get(column);
    if (column === undefined || held === undefined || value === null) return value;
    if (typeof value !== 'string') throw notAValue(column);
    const envelope = this.#cipher.seal(column, value);
    return held === 'json' ? JSON.stringify(envelope) : envelope;
  }
}

/** The column's name in a node; encrypted columns are written by their plain name. */
function columnOf(node: OperationNode): string | undefined {
  if ('column' in node && typeof node.column === 'object' && node.column !== null && 'name' in node.column) {
    return typeof node.column.name === 'string' ? node.column.name : undefined;
  }
  return undefined;
}

const notAValue = (column: string): Error =>
  new Error(`${column} is encrypted at rest: write a text or null, and no expression`);

/** How a column stores its envelopes: as text, or as a string of `jsonb`. */
type Held = 'text' | 'json';

/**
 * The columns that are encrypted at rest, in every table of the schema `control`. Results are decrypted by column name, so
 * an unencrypted column must not have one of these names.
 */
const sealedColumns: ReadonlyMap<string, Held> = new Map<string, Held>([
  ['secrets', 'json'],
  ['database_password', 'text'],
  ['answer', 'text'],
]);

/** The tables with encrypted columns, each with the column that identifies its rows. */
export const sealedTables = [
  { table: 'deployments', column: 'secrets', held: 'json' },
  { table: 'deployments', column: 'database_password', held: 'text' },
  { table: 'revisions', column: 'secrets', held: 'json' },
  { table: 'write_keys', column: 'answer', held: 'text' },
] as const;
