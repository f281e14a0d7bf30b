import type { Pool } from 'pg';

/** One column as the catalogue shows it. */
interface Column {
  table: string;
  name: string;
  type: string;
  nullable: boolean;
  hasDefault: boolean;
  identity: boolean;
  check: string | null;
}

const COLUMNS = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type, not a.attnotnull as nullable,
         a.atthasdef or a.attidentity <> '' as "hasDefault", a.attidentity = 'a' as identity,
         (select pg_get_constraintdef(k.oid) from pg_constraint k
           where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
             and pg_get_constraintdef(k.oid) like '%ANY%' limit 1) as "check"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
   where n.nspname = 'public' and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and c.relname not like 'kysely%'
   order by c.relname, a.attnum`;

const TYPES: Readonly<Record<string, string>> = {
  uuid: 'string',
  text: 'string',
  'character varying': 'string',
  boolean: 'boolean',
  integer: 'number',
  bigint: 'number',
  'double precision': 'number',
  bytea: 'Buffer',
  jsonb: 'unknown',
  'timestamp with time zone': 'Date',
};

/** `'a' | 'b'` from a check `= ANY (ARRAY['a'::varchar, …])`, so that the compiler holds SQL and code together. */
function literalUnion(check: string): string {
  return [...check.matchAll(/'([^']*)'::/g)].map((match) => `'${match[1]}'`).join(' | ');
}

function columnType(column: Column): string {
  const array = column.type.endsWith('[]');
  const known = TYPES[array ? column.type.slice(0, -2) : column.type];
  if (!known) throw new Error(`no TypeScript type for ${column.table}.${column.name}: ${column.type}`);
  let type = column.check ? literalUnion(column.check) : known;
  if (array) type = `${type}[]`;
  if (column.nullable && type !== 'unknown') type = `${type} | null`;
  if (column.identity) return `GeneratedAlways<${type}>`;
  return column.hasDefault ? `Generated<${type}>` : type;
}

/** Pascal case of a table name plus `Table`. */
function interfaceName(table: string): string {
  return `${table.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())}Table`;
}

function groupByTable(rows: readonly Column[]): Map<string, Column[]> {
  const tables = new Map<string, Column[]>();
  for (const row of rows) tables.set(row.table, [...(tables.get(row.table) ?? []), row]);
  return tables;
}

/** TypeScript of every table of a migrated database, for kysely. */
export async function generateTableTypes(pool: Pool): Promise<string> {
  const { rows } = await pool.query<Column>(COLUMNS);
  const tables = groupByTable(rows);
  const lines = [
    '// Generated from the migrated database by `npm run generate`; do not edit.',
    "import type { Generated, GeneratedAlways } from 'kysely';",
  ];
  for (const [table, columns] of tables) {
    lines.push('', `export interface ${interfaceName(table)} {`);
    for (const column of columns) lines.push(`  ${column.name}: ${columnType(column)};`);
    lines.push('}');
  }
  lines.push('', 'export interface Tables {');
  for (const table of tables.keys()) lines.push(`  ${table}: ${interfaceName(table)};`);
  lines.push('}', '');
  return lines.join('\n');
}
