import type { Oid } from '../../../git/objects.ts'
import { yieldToEventLoop } from '../../../base/scheduling.ts'
import { bytesOf, type DatabaseFile, hexOf, type SqlValue, utf8Of } from '../../../storage/sqlite.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import type { Reference } from '../../store/reference.ts'

/** A revision's sort key in lists: by date, then version, oid and artifact. */
export interface RevisionKey {
  readonly seconds: number
  readonly depth: number
  readonly oid: string
  readonly digits: string
}

/** The conditions of a list of revisions that need no decoding. All must hold. */
export interface RevisionQuestion {
  readonly family: string
  /** Whether the newest comes first. */
  readonly isDown: boolean
  /** Ranges of seconds since 1970, both ends included, in list order. */
  readonly spans: readonly (readonly [from: number, to: number])[]
  /** Only revisions that come later in list order. */
  readonly behind?: RevisionKey | undefined
  readonly includeArchived: boolean
  /** Required flags of the artifact; a missing one counts as false. */
  readonly flags: readonly (readonly [name: string, value: boolean])[]
  /** From each list, a reference must name its artifact. */
  readonly artifacts: readonly (readonly Reference[])[]
  /** The artifact's id must end in one of these digits. */
  readonly digits?: readonly string[] | undefined
  /** From each list, a reference must name a variant that holds it. */
  readonly variants: readonly (readonly Reference[])[]
  /** Authors as git writes them, or ids. */
  readonly authors?: readonly string[] | undefined
  /** A lowercase part of the message. A message too long to be indexed may match. */
  readonly message?: string | undefined
}

/** A revision in a list. */
export interface RevisionRow extends RevisionKey {
  /** The slug of its artifact. */
  readonly slug: string
  /** The slugs of the requested variants that hold it, unordered. */
  readonly holders: readonly string[]
}

/** A statement reads few rows at first, then twice as many each time, because a page is often full early. */
const ROWS_AT_FIRST = 64
const MAX_ROWS_AT_ONCE = 4096

/**
 * The revisions that match a question, in its order. Yields to other work between statements, so a concurrent
 * write may or may not be included.
 */
export async function* findRevisions(
  file: DatabaseFile,
  question: RevisionQuestion,
): AsyncGenerator<RevisionRow, void, undefined> {
  const scope = narrowed(file, question)
  for (const [from, to] of question.spans) {
    let behind = question.behind
    for (let most = ROWS_AT_FIRST; ; most = Math.min(2 * most, MAX_ROWS_AT_ONCE)) {
      const walk = { question, scope, span: [from, to] as const, behind }
      const last = endOf(file, walk, most)
      yield* rowsUpTo(file, walk, last)
      if (!last) break
      behind = last
      await yieldToEventLoop()
    }
  }
}

/** Whether a revision is known to embed nothing. */
export function isWithoutEmbedsIn(
  file: DatabaseFile,
  { artifact: { family, slug }, oid }: { readonly artifact: ArtifactView; readonly oid: Oid },
): boolean {
  return file.rows(WITHOUT_EMBEDS, family.folder, slug, bytesOf(oid)).length > 0
}

const WITHOUT_EMBEDS = `
  SELECT 1 FROM artifacts a JOIN revisions r ON r.artifact = a.number
  WHERE a.family = ? AND a.slug = ? AND r.oid = ? AND r.embeds = 0`

/** When the newest revision of each artifact of a family was committed, in seconds since 1970, by the artifact's id. */
export async function newestIn(file: DatabaseFile, family: string): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>()
  for (let behind = 0; ;) {
    const rows = file.rows<{ readonly number: number; readonly id: string; readonly seconds: number }>(
      NEWEST,
      family,
      behind,
      ARTIFACTS_AT_ONCE,
    )
    for (const { id, seconds } of rows) newest.set(id, seconds)
    const last = rows.at(-1)
    if (!last || rows.length < ARTIFACTS_AT_ONCE) return newest
    behind = last.number
    await yieldToEventLoop()
  }
}

const ARTIFACTS_AT_ONCE = 500

const NEWEST = `
  SELECT a.number, a.id, max(r.seconds) AS seconds
  FROM artifacts a CROSS JOIN variants v ON v.artifact = a.number CROSS JOIN revisions r ON r.artifact = a.number AND r.oid = v.latest
  WHERE a.family = ? AND a.number > ? AND NOT v.archived
  GROUP BY a.number ORDER BY a.number LIMIT ?`

/** The slugs of a question's artifacts whose commits cannot be read, and whether it matches no others. */
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

interface Unreadable {
  readonly slugs: readonly string[]
  readonly areAll: boolean
}

/** The state of walking rows, one batch after the other. */
interface Walk {
  readonly question: RevisionQuestion
  /** The condition that selects the rows to walk. */
  readonly scope: Clause
  readonly span: readonly [from: number, to: number]
  readonly behind: RevisionKey | undefined
}

/** The last of the next `most` rows of a walk; undefined if there are fewer. */
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
  // `holders` is built by the statement above.
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

/** A part of a WHERE clause, and its parameters. */
interface Clause {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

function conjunction(conditions: readonly Clause[]): Clause {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  }
}

/** The conditions on artifacts `a`. */
function artifactConditions(question: RevisionQuestion): Clause[] {
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

/** The conditions on revisions `r` alone. */
function revisionConditions({ authors, message }: RevisionQuestion): Clause[] {
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

/** The condition that an artifact `a` has a requested variant. */
function hasVariant(question: RevisionQuestion): Clause {
  const { sql, values } = conjunction([
    { sql: 'v.artifact = a.number', values: [] },
    ...variantConditions(question),
  ])
  return { sql: `EXISTS (SELECT 1 FROM variants v WHERE ${sql})`, values }
}

/** FROM and WHERE of the requested variants `v` that hold a revision `r`. */
function isHeld(question: RevisionQuestion): Clause {
  const isOnLine = { sql: 'l.segment = r.segment AND l.up_to >= r.depth', values: [] }
  const { sql, values } = conjunction([isOnLine, ...variantConditions(question)])
  return { sql: `FROM lines l JOIN variants v ON v.number = l.variant WHERE ${sql}`, values }
}

function variantConditions({ includeArchived, variants }: RevisionQuestion): Clause[] {
  const named = variants.map((references) => isNamed('v', references))
  return includeArchived ? named : [{ sql: 'NOT v.archived', values: [] }, ...named]
}

/** Beyond this many rows, walking all rows in order gives a page faster than sorting these. */
const MAX_NARROWED_ROWS = 2000

/**
 * Narrows the rows to walk by a selective index: the artifacts or variants named, the messages that may
 * match, or the author; otherwise the whole family.
 */
function narrowed(file: DatabaseFile, question: RevisionQuestion): Clause {
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

/**
 * The revisions whose message may contain a text, by its trigrams; undefined if they are many, or the text
 * has no trigrams.
 */
function mayHold(file: DatabaseFile, text: string): number[] | undefined {
  const characters = [...text]
  const trigrams = new Set(
    characters.slice(2).map((last, at) => `${characters[at]}${characters[at + 1]}${last}`),
  )
  // Messages contain no NUL, and trigram queries cannot.
  if (trigrams.size === 0 || text.includes('\0')) return undefined
  const match = [...trigrams].map((it) => `"${it.replaceAll('"', '""')}"`).join(' AND ')
  const found = file.rows<{ number: number }>(
    `SELECT rowid AS number FROM messages WHERE messages MATCH ? LIMIT ${MAX_NARROWED_ROWS}`,
    match,
  )
  const long = file.rows<{ number: number }>(
    `SELECT number FROM revisions WHERE is_long LIMIT ${MAX_NARROWED_ROWS}`,
  )
  if (found.length + long.length >= MAX_NARROWED_ROWS) return undefined
  return [...found, ...long].map(({ number }) => number)
}

const AUTHORS = `
  SELECT number FROM authors WHERE author IN (SELECT value FROM json_each(?)) OR id IN (SELECT value FROM json_each(?))`

/** The number of no author. */
const NOBODY = 0

function authorsAmong(file: DatabaseFile, authors: readonly string[]): number[] {
  const asked = JSON.stringify(authors)
  return file.rows<{ number: number }>(AUTHORS, asked, asked).map(({ number }) => number)
}

function isNamed(table: 'a' | 'v', references: readonly Reference[]): Clause {
  // An id takes precedence over a slug beside it.
  const ids = references.flatMap(({ id }) => id ?? [])
  const slugs = references.flatMap(({ id, slug }) => (id === undefined && slug !== undefined ? slug : []))
  const sql = `${table}.id IN (SELECT value FROM json_each(?)) OR ${table}.slug IN (SELECT value FROM json_each(?))`
  return { sql, values: [JSON.stringify(ids), JSON.stringify(slugs)] }
}

/** Uses the same SQL for lists of any length, so that the statement is prepared once. */
function isAmong(column: string, values: readonly (string | number)[]): Clause {
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] }
}
