import { yieldToEventLoop } from '../../../scheduling/cooperative.ts'
import type { DatabaseFile } from '../../../storage/sqlite/database-file.ts'
import type { RevisionKey, RevisionQuestion, RevisionRow } from './revision-question.ts'
import { bytesOf, hexOf, utf8Of } from './sql-bytes.ts'
import type { Clause } from './sql-clause.ts'
import {
  conjunction,
  artifactConditions,
  hasVariant,
  isHeld,
  narrowed,
  revisionConditions,
} from './sql-clause.ts'

/** So many rows are looked at in one statement at first, then twice as many each time up to `MOST`: a page is often full soon. */
const FIRST = 64
const MOST = 4096

/**
 * The revisions that a question asks for, in its order. Others have their turn between two statements: a row that is written meanwhile
 * is there or not.
 */
export async function* findRevisions(
  file: DatabaseFile,
  question: RevisionQuestion,
): AsyncGenerator<RevisionRow, void, undefined> {
  const scope = narrowed(file, question)
  for (const [from, to] of question.spans) {
    let behind = question.behind
    for (let most = FIRST; ; most = Math.min(2 * most, MOST)) {
      const walk = { question, scope, span: [from, to] as const, behind }
      const last = endOf(file, walk, most)
      yield* rowsUpTo(file, walk, last)
      if (!last) break
      behind = last
      await yieldToEventLoop()
    }
  }
}

/** The artifacts of a question whose commits cannot be read, by slug, and whether it asks for no other. */
export function unreadableIn(file: DatabaseFile, question: RevisionQuestion): Unreadable {
  const asked = conjunction([
    { sql: 'a.family = ?', values: [question.family] },
    ...artifactConditions(question),
    hasVariant(question),
  ])
  const select = (columns: string, isUnreadable: string): { slug: ArrayBuffer }[] =>
    file.rows(`SELECT ${columns} FROM artifacts a WHERE ${isUnreadable} AND ${asked.sql}`, ...asked.values)
  const slugs = select('CAST(a.slug AS BLOB) AS slug', 'a.unreadable').map(({ slug }) => utf8Of(slug))
  return { slugs, areAll: slugs.length > 0 && select('NULL AS slug', 'NOT a.unreadable').length === 0 }
}

/** See unreadableIn. */
export interface Unreadable {
  readonly slugs: readonly string[]
  readonly areAll: boolean
}

/** Rows that are gone through, one stretch after the other. */
interface Walk {
  readonly question: RevisionQuestion
  /** Which rows are gone through at all. */
  readonly scope: Clause
  readonly span: readonly [from: number, to: number]
  readonly behind: RevisionKey | undefined
}

/** The last of the next `most` rows of a walk; undefined where there are fewer. */
function endOf(file: DatabaseFile, walk: Walk, most: number): RevisionKey | undefined {
  const { sql, values } = stretch(walk)
  const [row] = file.rows<KeyRow>(
    `SELECT r.seconds, r.depth, r.oid, r.digits FROM revisions r WHERE ${sql} ${orderOf(walk)} LIMIT 1 OFFSET ${most - 1}`,
    ...values,
  )
  return row && keyOf(row)
}

function rowsUpTo(file: DatabaseFile, walk: Walk, last: RevisionKey | undefined): RevisionRow[] {
  const { question } = walk
  const held = isHeld(question)
  const { sql, values } = conjunction([
    stretch(walk, last),
    ...revisionConditions(question),
    ...artifactConditions(question),
  ])
  const rows = file.rows<FoundRow>(
    `SELECT r.seconds, r.depth, r.oid, r.digits, CAST(a.slug AS BLOB) AS slug,
       CAST((SELECT json_group_array(v.slug) ${held.sql}) AS BLOB) AS holders
     FROM revisions r JOIN artifacts a ON a.number = r.artifact
     WHERE ${sql} AND EXISTS (SELECT 1 ${held.sql}) ${orderOf(walk)}`,
    ...held.values,
    ...values,
    ...held.values,
  )
  // Our own array of strings.
  return rows.map((row) => ({
    ...keyOf(row),
    slug: utf8Of(row.slug),
    holders: JSON.parse(utf8Of(row.holders)) as string[],
  }))
}

function stretch({ question: { isDown }, scope, span, behind }: Walk, last?: RevisionKey): Clause {
  const key = '(r.seconds, r.depth, r.oid, r.digits)'
  return conjunction([
    scope,
    { sql: 'r.seconds BETWEEN ? AND ?', values: [...span] },
    ...(behind ? [{ sql: `${key} ${isDown ? '<' : '>'} (?, ?, ?, ?)`, values: valuesOf(behind) }] : []),
    ...(last ? [{ sql: `${key} ${isDown ? '>=' : '<='} (?, ?, ?, ?)`, values: valuesOf(last) }] : []),
  ])
}

function orderOf({ question: { isDown } }: Walk): string {
  return `ORDER BY ${['seconds', 'depth', 'oid', 'digits'].map((name) => `r.${name}${isDown ? ' DESC' : ''}`).join(', ')}`
}

interface KeyRow {
  readonly seconds: number
  readonly depth: number
  readonly oid: ArrayBuffer
  readonly digits: ArrayBuffer
}

interface FoundRow extends KeyRow {
  readonly slug: ArrayBuffer
  readonly holders: ArrayBuffer
}

function keyOf({ seconds, depth, oid, digits }: KeyRow): RevisionKey {
  return { seconds, depth, oid: hexOf(oid), digits: hexOf(digits) }
}

function valuesOf({ seconds, depth, oid, digits }: RevisionKey): (number | Buffer)[] {
  return [seconds, depth, bytesOf(oid), bytesOf(digits)]
}
