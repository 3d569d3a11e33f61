import {
  ColumnNode,
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
import { encryptionKeyOf, type SecretCipher } from './cipher.ts';

/**
 * Encrypts `encryptedColumns` in every query of the builder and decrypts them in every result, so that no query can
 * forget it. Older plain values are returned as they are. Raw SQL bypasses the plugin.
 */
export function encryptionPlugin(secretCipher: SecretCipher): KyselyPlugin {
  const transformer = new EncryptionTransformer(secretCipher);
  return {
    transformQuery: ({ node, queryId }: PluginTransformQueryArgs): RootOperationNode =>
      transformer.transformNode(node, queryId),
    transformResult: async ({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> => ({
      ...result,
      rows: result.rows.map((row) => decryptedRow(row, secretCipher)),
    }),
  };
}

function decryptedRow(row: UnknownRow, secretCipher: SecretCipher): UnknownRow {
  const clear: UnknownRow = {};
  for (const [column, storedAs] of encryptedColumns) {
    const value = row[column];
    if (typeof value !== 'string' || encryptionKeyOf(value) === undefined) continue;
    const text = secretCipher.decrypt(column, value);
    clear[column] = storedAs === 'json' ? JSON.parse(text) : text;
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
    if (!columns.some((column) => encryptedColumns.has(column))) return written;
    if (!written.values || !ValuesNode.is(written.values)) throw notAValue(columns.join(', '));
    const rows = written.values.values.map((row) =>
      PrimitiveValueListNode.is(row)
        ? PrimitiveValueListNode.create(row.values.map((value, at) => this.#encrypt(columns[at], value)))
        : ValueListNode.create(row.values.map((value, at) => this.#encryptNode(columns[at], value))),
    );
    return { ...written, values: ValuesNode.create(rows) };
  }

  protected override transformColumnUpdate(node: ColumnUpdateNode, queryId?: QueryId): ColumnUpdateNode {
    const written = super.transformColumnUpdate(node, queryId);
    const column = ColumnNode.is(written.column) ? written.column.column.name : undefined;
    return { ...written, value: this.#encryptNode(column, written.value) };
  }

  #encryptNode(column: string | undefined, node: OperationNode): OperationNode {
    if (column === undefined || !encryptedColumns.has(column)) return node;
    if (!ValueNode.is(node)) throw notAValue(column);
    return ValueNode.create(this.#encrypt(column, node.value));
  }

  #encrypt(column: string | undefined, value: unknown): unknown {
    const storedAs = column === undefined ? undefined : encryptedColumns.get(column);
    if (column === undefined || storedAs === undefined || value === null) return value;
    if (typeof value !== 'string') throw notAValue(column);
    const envelope = this.#cipher.encrypt(column, value);
    return storedAs === 'json' ? JSON.stringify(envelope) : envelope;
  }
}

const notAValue = (column: string): Error =>
  new Error(`${column} is encrypted at rest: write a text or null, and no expression`);

/** How a column stores its envelopes: as text, or as a string of `jsonb`. */
type StoredAs = 'text' | 'json';

/** The tables with encrypted columns, each with the column that identifies its rows. */
export const encryptedTables = [
  { table: 'deployments', column: 'secrets', storedAs: 'json' },
  { table: 'deployments', column: 'database_password', storedAs: 'text' },
  { table: 'revisions', column: 'secrets', storedAs: 'json' },
  { table: 'write_keys', column: 'answer', storedAs: 'text' },
] as const;

/** The encrypted columns, in every table: an unencrypted column must not have one of these names. */
const encryptedColumns: ReadonlyMap<string, StoredAs> = new Map(
  encryptedTables.map(({ column, storedAs }) => [column, storedAs]),
);
