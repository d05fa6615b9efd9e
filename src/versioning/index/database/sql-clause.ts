import type { DatabaseFile, SqlValue } from '../../../storage/sqlite/database-file.ts'
import type { Reference } from '../../reference.ts'
import type { RevisionQuestion } from './revision-question.ts'

/** A part of a WHERE clause, and the values of its question marks. */
export interface Clause {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

export function conjunction(conditions: readonly Clause[]): Clause {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  }
}

/** What a question asks of artifacts `a`. */
export function artifactConditions(question: RevisionQuestion): Clause[] {
  const { includeArchived, flags, artifacts, digits } = question
  const conditions: Clause[] = []
  if (!includeArchived) conditions.push({ sql: 'NOT a.archived', values: [] })
  for (const [name, value] of flags) {
    const path = `$.${JSON.stringify(name)}`
    conditions.push({
      sql: 'COALESCE(iif(json_valid(a.flags), json_extract(a.flags, ?), 0), 0) = ?',
      values: [path, value ? 1 : 0],
    })
  }
  for (const references of artifacts) conditions.push(isNamed('a', references))
  if (digits) conditions.push(isAmong('a.digits', digits))
  return conditions
}

/** What a question asks of revisions `r` by themselves. */
export function revisionConditions({ authors, message }: RevisionQuestion): Clause[] {
  const conditions: Clause[] = []
  if (authors)
    conditions.push({
      sql: `r.author IN (${AUTHORS})`,
      values: [JSON.stringify(authors), JSON.stringify(authors)],
    })
  if (message) conditions.push({ sql: 'r.is_long OR instr(r.message, ?) > 0', values: [message] })
  else if (message === '') conditions.push({ sql: 'r.is_long OR r.message IS NOT NULL', values: [] })
  return conditions
}

/** That an artifact `a` has a variant that a question asks for. */
export function hasVariant(question: RevisionQuestion): Clause {
  const { sql, values } = conjunction([
    { sql: 'v.artifact = a.number', values: [] },
    ...variantConditions(question),
  ])
  return { sql: `EXISTS (SELECT 1 FROM variants v WHERE ${sql})`, values }
}

/** FROM and WHERE of the variants `v` that hold a revision `r` and that a question asks for. */
export function isHeld(question: RevisionQuestion): Clause {
  const isOnLine = { sql: 'l.segment = r.segment AND l.up_to >= r.depth', values: [] }
  const { sql, values } = conjunction([isOnLine, ...variantConditions(question)])
  return { sql: `FROM lines l JOIN variants v ON v.number = l.variant WHERE ${sql}`, values }
}

function variantConditions({ includeArchived, variants }: RevisionQuestion): Clause[] {
  const named = variants.map((references) => isNamed('v', references))
  return includeArchived ? named : [{ sql: 'NOT v.archived', values: [] }, ...named]
}

/** Past so many, all rows in their order are a page sooner than these put in order. */
const FEW = 2000

/**
 * Which rows a question goes through, by an index that leaves few: those of the artifacts or variants that it names, those whose message
 * may hold its text, or of its author; else all of the family.
 */
export function narrowed(file: DatabaseFile, question: RevisionQuestion): Clause {
  const { family, artifacts, digits, variants, authors, message } = question
  if (artifacts.length > 0 || digits) {
    const { sql, values } = conjunction([
      { sql: 'a.family = ?', values: [family] },
      ...artifactConditions(question),
    ])
    return { sql: `r.artifact IN (SELECT a.number FROM artifacts a WHERE ${sql})`, values }
  }
  if (variants.length > 0) {
    const { sql, values } = conjunction(variants.map((references) => isNamed('v', references)))
    const inFamily = { sql: '+r.family = ?', values: [family] }
    return conjunction([
      { sql: `r.artifact IN (SELECT v.artifact FROM variants v WHERE ${sql})`, values },
      inFamily,
    ])
  }
  const numbers = message === undefined ? undefined : mayHold(file, message)
  if (numbers) return conjunction([isAmong('r.number', numbers), { sql: '+r.family = ?', values: [family] }])
  const [author, ...others] = authors ? authorsAmong(file, authors) : [NOBODY, NOBODY]
  if (others.length === 0) return { sql: 'r.author = ? AND r.family = ?', values: [author ?? NOBODY, family] }
  return { sql: 'r.family = ?', values: [family] }
}

/** The revisions whose message may hold a text, by its trigrams; undefined where they are many, or it has none. */
function mayHold(file: DatabaseFile, text: string): number[] | undefined {
  const characters = [...text]
  const trigrams = new Set(
    characters.slice(2).map((last, at) => `${characters[at]}${characters[at + 1]}${last}`),
  )
  // No message holds a NUL, and no question of trigrams may.
  if (trigrams.size === 0 || text.includes('\0')) return undefined
  const match = [...trigrams].map((it) => `"${it.replaceAll('"', '""')}"`).join(' AND ')
  const found = file.rows<{ number: number }>(
    `SELECT rowid AS number FROM messages WHERE messages MATCH ? LIMIT ${FEW}`,
    match,
  )
  const long = file.rows<{ number: number }>(`SELECT number FROM revisions WHERE is_long LIMIT ${FEW}`)
  if (found.length + long.length >= FEW) return undefined
  return [...found, ...long].map(({ number }) => number)
}

const AUTHORS = `
  SELECT number FROM authors WHERE author IN (SELECT value FROM json_each(?)) OR id IN (SELECT value FROM json_each(?))`

/** No author has it. */
const NOBODY = 0

function authorsAmong(file: DatabaseFile, authors: readonly string[]): number[] {
  const asked = JSON.stringify(authors)
  return file.rows<{ number: number }>(AUTHORS, asked, asked).map(({ number }) => number)
}

function isNamed(table: 'a' | 'v', references: readonly Reference[]): Clause {
  // An id says more than a slug beside it.
  const ids = references.flatMap(({ id }) => id ?? [])
  const slugs = references.flatMap(({ id, slug }) => (id === undefined && slug !== undefined ? slug : []))
  const sql = `${table}.id IN (SELECT value FROM json_each(?)) OR ${table}.slug IN (SELECT value FROM json_each(?))`
  return { sql, values: [JSON.stringify(ids), JSON.stringify(slugs)] }
}

/** One text for lists of any length, so that the statement is prepared once. */
function isAmong(column: string, values: readonly (string | number)[]): Clause {
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] }
}
