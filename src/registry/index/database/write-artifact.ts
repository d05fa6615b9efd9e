import { hash } from 'node:crypto'
import type { Oid } from '../../../git/objects.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import { bytesOf, type DatabaseFile, hexOf, utf8Of } from '../../../storage/sqlite.ts'
import type { ArtifactView, VariantView } from '../../artifacts/artifact-view.ts'
import { authorUuid, objectUuid, oidPrefix } from '../../store/ids.ts'
import type { StoredRevision } from '../../revisions/stored-revision.ts'
import { pathOf } from '../index-entry.ts'

/** The facts of a revision that are in its commit alone, without its tree. They never change. */
export type CommitFacts = Pick<StoredRevision, 'oid' | 'commit' | 'message'>

/**
 * The commits on the first-parent lines of an artifact that are not in the file yet, by oid. Refuses with `damaged_repository` if one of them
 * cannot be read.
 */
export async function missingCommits(
  file: DatabaseFile,
  { family, slug, variants, repository, revisions }: ArtifactView,
  slice: TimeSlice,
): Promise<ReadonlyMap<Oid, CommitFacts>> {
  const missing = new Map<Oid, CommitFacts>()
  for (const { head } of variants) {
    for (let oid = head; oid !== undefined && !missing.has(oid);) {
      // Each commit costs a query.
      await slice.pause()
      if (file.rows(KNOWN, family.folder, slug, bytesOf(oid)).length > 0) break
      const { commit, message } = await revisions.readCommit(repository.objects, oid)
      missing.set(oid, { oid, commit, message })
      oid = commit.parents[0]
    }
  }
  return missing
}

const KNOWN = `
  SELECT 1 FROM artifacts JOIN revisions ON revisions.artifact = artifacts.number
  WHERE artifacts.family = ? AND artifacts.slug = ? AND revisions.oid = ?`

/** A longer message is not stored in the file, because messages have no limit; it can be read from the commit. */
const MAX_MESSAGE_LENGTH = 1000

/** The refs from which the rows of an artifact were made (see seenOf); empty if the rows are incomplete. */
export function seenAt(file: DatabaseFile, { family, slug }: ArtifactView): string {
  const [row] = file.rows<{ seen: ArrayBuffer }>(SEEN_AT, family.folder, slug)
  return row ? utf8Of(row.seen) : ''
}

const SEEN_AT = 'SELECT CAST(seen AS BLOB) AS seen FROM artifacts WHERE family = ? AND slug = ?'

/** A hash of the refs from which rows are made: equal hashes mean equal rows. */
export function seenOf({ source: { refs } }: ArtifactView): string {
  const lines = [...refs.refs].map(([name, oid]) => `${name} ${oid}`).sort()
  return hash('sha1', [refs.head ?? '', ...lines].join('\n'), 'base64')
}

/** A planned change of an artifact's rows, worked out before the transaction that writes it. */
export interface RowsChange {
  /** `<family>/<slug>`. */
  readonly path: string
  /** Undefined if the artifact is gone; then its rows are removed. */
  readonly view: ArtifactView | undefined
  /** The hash of the refs from which the present rows were made (see seenOf). */
  readonly before: string
  /** The commits that are not in the file yet; undefined if some cannot be read, and then the artifact has no revisions in lists. */
  readonly commits: ReadonlyMap<Oid, CommitFacts> | undefined
}

/** Makes the change within the caller's transaction. False if it has to be worked out again, because another server has changed the rows. */
export function writeChange(file: DatabaseFile, { path, view, before, commits }: RowsChange): boolean {
  if (!view) return removeArtifact(file, path)
  if (seenAt(file, view) !== before) return false
  return commits ? writeArtifact(file, view, commits) : writeUnreadable(file, view)
}

/**
 * Writes the rows of an artifact from its view, within the caller's transaction. This clears the saved view, which is saved again later. `commits`
 * are those that are not in the file yet. If one is missing, another server has changed the file meanwhile: the result is false, nothing wrong was
 * written, and the change has to be worked out again.
 */
export function writeArtifact(
  file: DatabaseFile,
  view: ArtifactView,
  commits: ReadonlyMap<Oid, CommitFacts>,
): boolean {
  const artifact = rowOfArtifact(file, view)
  const known = variantsIn(file, artifact)
  if (!writeVariants(file, view, { artifact, known, variants: view.variants }, commits)) return false
  const slugs = new Set(view.variants.map(({ slug }) => slug))
  for (const [slug, { number }] of known) if (!slugs.has(slug)) removeVariant(file, number)
  if (file.run(SET_META, view.metaCommit, artifact, view.metaCommit).changes > 0) {
    setArchived(file, artifact, view)
    file.run(SEARCH_HEADS, artifact, artifact, artifact)
  }
  file.run(SET_SEEN, seenOf(view), artifact)
  return true
}

/** If an artifact has no more new commits and variants than this, all its rows are written in one transaction. */
export const ROWS_PER_PIECE = 200

/**
 * The parts of a large change that can be written before `writeArtifact`, each in a transaction of its own: commits that no variant has yet, and
 * variants. A part is false in the same cases as `writeArtifact`.
 */
export function piecesBefore(
  file: DatabaseFile,
  view: ArtifactView,
  commits: ReadonlyMap<Oid, CommitFacts>,
): readonly (() => boolean)[] {
  const { variants } = view
  const pieces: (() => boolean)[] = []
  const passed = new Set<Oid>()
  for (const { head } of variants) {
    const line: Oid[] = []
    for (
      let oid = head;
      oid !== undefined && commits.has(oid) && !passed.has(oid);
      oid = commits.get(oid)?.commit.parents[0]
    ) {
      line.push(oid)
      passed.add(oid)
    }
    line.reverse()
    for (let at = ROWS_PER_PIECE - 1; at < line.length; at += ROWS_PER_PIECE) {
      const oid = line[at] ?? ''
      pieces.push(() => placeOf(file, view, rowOfArtifact(file, view), oid, commits) !== undefined)
    }
  }
  for (let at = 0; variants.length > ROWS_PER_PIECE && at < variants.length; at += ROWS_PER_PIECE)
    pieces.push(() => {
      const artifact = rowOfArtifact(file, view)
      const some = variants.slice(at, at + ROWS_PER_PIECE)
      // Only these variants: reading all of them for each part would take quadratic time.
      const known = variantsIn(file, artifact, some)
      return writeVariants(file, view, { artifact, known, variants: some }, commits)
    })
  return pieces
}

/** Some variants of an artifact, and the file's rows of at least these. */
interface SomeVariants {
  readonly artifact: number
  readonly known: ReadonlyMap<string, KnownVariant>
  readonly variants: readonly VariantView[]
}

/** Writes the rows of variants from a view of their artifact. False if a commit is missing. */
function writeVariants(
  file: DatabaseFile,
  view: ArtifactView,
  { artifact, known, variants }: SomeVariants,
  commits: ReadonlyMap<Oid, CommitFacts>,
): boolean {
  for (const { slug, id, head, record } of variants) {
    const before = known.get(slug)
    const archived = record.deleted_at === undefined ? 0 : 1
    const isMoved = head !== (before?.head || undefined)
    if (before && !isMoved && before.archived === archived) continue
    const place = head === undefined ? undefined : placeOf(file, view, artifact, head, commits)
    if (head !== undefined && !place) return false
    const tip = head === undefined ? null : bytesOf(head)
    file.run(SET_VARIANT, artifact, slug, id, archived, tip, tip)
    const variant = before?.number ?? Number(file.rows<Numbered>(VARIANT, artifact, slug)[0]?.number)
    if (isMoved) {
      file.run('DELETE FROM lines WHERE variant = ?', variant)
      if (place) file.run(ADD_LINES, place.segment, place.depth, variant)
    }
    file.run(SET_LATEST, variant)
  }
  return true
}

/**
 * The file's rows of an artifact's variants, all or some, by slug. They come as one JSON text, because very many rows would take three times as
 * long.
 */
function variantsIn(
  file: DatabaseFile,
  artifact: number,
  some?: readonly VariantView[],
): ReadonlyMap<string, KnownVariant> {
  const [row] = some
    ? file.rows<{ json: ArrayBuffer }>(SOME_VARIANTS, artifact, slugsIn(some))
    : file.rows<{ json: ArrayBuffer }>(VARIANTS, artifact)
  // Made by our own statement.
  const known = JSON.parse(utf8Of(row?.json ?? null)) as Record<string, KnownVariant>
  return new Map(Object.entries(known))
}

function slugsIn(variants: readonly VariantView[]): string {
  return JSON.stringify(variants.map(({ slug }) => slug))
}

function removeVariant(file: DatabaseFile, number: number): void {
  file.run('DELETE FROM lines WHERE variant = ?', number)
  file.run('DELETE FROM variants WHERE number = ?', number)
}

/** Notes that the commits of an artifact cannot be read. Until they can, it has no revisions in lists. Answers true. */
function writeUnreadable(file: DatabaseFile, view: ArtifactView): boolean {
  const artifact = rowOfArtifact(file, view)
  removeRevisions(file, artifact)
  for (const { slug, id, record } of view.variants)
    file.run(SET_VARIANT, artifact, slug, id, record.deleted_at === undefined ? 0 : 1, null, null)
  file.run("UPDATE artifacts SET seen = '', saved = NULL, unreadable = 1 WHERE number = ?", artifact)
  return true
}

/** Removes the rows of an artifact that is gone. Answers true. */
function removeArtifact(file: DatabaseFile, path: string): boolean {
  const [family = '', slug = ''] = path.split('/')
  const [row] = file.rows<Numbered>(ARTIFACT, family, slug)
  if (!row) return true
  removeRevisions(file, row.number)
  file.run('DELETE FROM search WHERE rowid = ?', -row.number)
  file.run('DELETE FROM artifacts WHERE number = ?', row.number)
  return true
}

/**
 * Marks the revisions that are archived individually, and updates `latest` of the affected variants. It writes only differences, because an
 * artifact may have thousands of archived revisions, and each change of its record calls this.
 */
function setArchived(file: DatabaseFile, artifact: number, { archived, digits }: ArtifactView): void {
  const changed: number[] = []
  const marked = new Set<string>()
  for (const { number, oid } of file.rows<MarkedRow>(MARKED, artifact)) {
    const id = objectUuid(hexOf(oid), digits)
    marked.add(id)
    if (archived.has(id)) continue
    file.run('UPDATE revisions SET archived = 0 WHERE number = ?', number)
    changed.push(number)
  }
  for (const id of archived.keys()) {
    if (marked.has(id)) continue
    const prefix = oidPrefix(id)
    const range = [bytesOf(prefix.padEnd(40, '0')), bytesOf(prefix.padEnd(40, 'f'))] as const
    for (const { number, oid } of file.rows<MarkedRow>(UNMARKED_BETWEEN, artifact, ...range)) {
      if (objectUuid(hexOf(oid), digits) !== id) continue
      file.run('UPDATE revisions SET archived = 1 WHERE number = ?', number)
      changed.push(number)
    }
  }
  for (const revision of changed)
    for (const { number } of file.rows<Numbered>(OTHER_LATEST, revision)) file.run(SET_LATEST, number)
}

function removeRevisions(file: DatabaseFile, artifact: number): void {
  for (const table of ['messages', 'search'])
    file.run(
      `DELETE FROM ${table} WHERE rowid IN (SELECT number FROM revisions WHERE artifact = ?)`,
      artifact,
    )
  file.run('DELETE FROM revisions WHERE artifact = ?', artifact)
  file.run('DELETE FROM lines WHERE segment IN (SELECT number FROM segments WHERE artifact = ?)', artifact)
  file.run('DELETE FROM segments WHERE artifact = ?', artifact)
  file.run('DELETE FROM variants WHERE artifact = ?', artifact)
}

function rowOfArtifact(file: DatabaseFile, { family, slug, id, digits, record }: ArtifactView): number {
  const [before] = file.rows<ArtifactRow>(ARTIFACT, family.folder, slug)
  // Another artifact may have taken the place of the earlier one.
  if (before && utf8Of(before.id) !== id) removeArtifact(file, pathOf(family, slug))
  const archived = record.deleted_at === undefined ? 0 : 1
  const flags = JSON.stringify(record.flags ?? {})
  file.run(SET_ARTIFACT, family.folder, slug, id, digits, archived, flags)
  return Number(file.rows<Numbered>(ARTIFACT, family.folder, slug)[0]?.number)
}

/** The place of a commit in the file, after adding it and its missing ancestors; undefined if one of them is not among `commits`. */
function placeOf(
  file: DatabaseFile,
  { family, digits, archived }: ArtifactView,
  artifact: number,
  head: Oid,
  commits: ReadonlyMap<Oid, CommitFacts>,
): Place | undefined {
  const missing: CommitFacts[] = []
  let place: Place | undefined
  for (let oid: Oid | undefined = head; oid !== undefined;) {
    place = file.rows<Place>(PLACE, artifact, bytesOf(oid))[0]
    if (place) break
    const facts = commits.get(oid)
    if (!facts) return undefined
    missing.push(facts)
    oid = facts.commit.parents[0]
  }
  if (missing.length === 0) return place
  let { segment, depth } = place ?? { segment: undefined, depth: 0 }
  // The new commits extend the segment if it ends at the place; otherwise they begin a new segment.
  if (segment === undefined || file.rows(ENDS_AT, segment, depth).length === 0)
    segment = Number(file.run(ADD_SEGMENT, artifact, segment ?? null, depth, depth).lastInsertRowid)
  for (const { oid, commit, message } of missing.reverse()) {
    const author = `${commit.author.name} <${commit.author.email}>`
    file.run('INSERT OR IGNORE INTO authors (author, id) VALUES (?, ?)', author, authorUuid(author))
    const { seconds } = commit.committer
    const isArchived = archived.has(objectUuid(oid, digits)) ? 1 : 0
    const isLong = message !== undefined && message.length > MAX_MESSAGE_LENGTH
    // Filters compare lower case.
    const text = isLong ? null : (message?.toLowerCase() ?? null)
    const at = [artifact, segment, author, family.folder, seconds, ++depth] as const
    const facts = [bytesOf(oid), bytesOf(digits), isLong ? 1 : 0, text, isArchived] as const
    const { lastInsertRowid } = file.run(ADD_REVISION, ...at, ...facts)
    if (text) file.run('INSERT INTO messages (rowid, message) VALUES (?, ?)', Number(lastInsertRowid), text)
  }
  file.run('UPDATE segments SET tip = ? WHERE number = ?', depth, segment)
  return { segment, depth }
}

interface Numbered {
  readonly number: number
}

interface MarkedRow extends Numbered {
  readonly oid: ArrayBuffer
}

interface ArtifactRow extends Numbered {
  readonly id: ArrayBuffer
}

interface KnownVariant extends Numbered {
  readonly archived: number
  readonly head: Oid | undefined
}

interface Place {
  readonly segment: number
  readonly depth: number
}

const ARTIFACT = 'SELECT number, CAST(id AS BLOB) AS id FROM artifacts WHERE family = ? AND slug = ?'
const SET_ARTIFACT = `
  INSERT INTO artifacts (family, slug, id, digits, archived, flags, unreadable, meta, searched, seen)
  VALUES (?, ?, ?, ?, ?, ?, 0, '', 0, '')
  ON CONFLICT (family, slug) DO UPDATE SET archived = excluded.archived, flags = excluded.flags
  WHERE archived <> excluded.archived OR flags <> excluded.flags`
const SET_SEEN = 'UPDATE artifacts SET seen = ?, saved = NULL, unreadable = 0 WHERE number = ?'
/** Names and tags have changed, so the words of the artifact have to be written again. */
const SET_META = 'UPDATE artifacts SET meta = ?, searched = 0 WHERE number = ? AND meta <> ?'
const SEARCH_HEADS = `
  UPDATE revisions SET searched = 0 WHERE artifact = ? AND searched
    AND oid IN (SELECT head FROM variants WHERE artifact = ? UNION SELECT latest FROM variants WHERE artifact = ?)`
const VARIANTS = `
  SELECT CAST(json_group_object(slug, json_object(
    'number', number, 'archived', archived, 'head', lower(hex(head)))) AS BLOB) AS json
  FROM variants WHERE artifact = ?`
const SOME_VARIANTS = `${VARIANTS} AND slug IN (SELECT value FROM json_each(?))`
const VARIANT = 'SELECT number FROM variants WHERE artifact = ? AND slug = ?'
const SET_VARIANT = `
  INSERT INTO variants (artifact, slug, id, archived, head, latest) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (artifact, slug) DO UPDATE SET archived = excluded.archived, head = excluded.head, latest = excluded.latest`
const MARKED = 'SELECT number, oid FROM revisions WHERE artifact = ? AND archived'
const UNMARKED_BETWEEN =
  'SELECT number, oid FROM revisions WHERE artifact = ? AND NOT archived AND oid BETWEEN ? AND ?'
/** The variants whose `latest` changes because this revision was archived, or is not archived any more. */
const OTHER_LATEST = `
  SELECT v.number FROM revisions r
    JOIN lines l ON l.segment = r.segment AND l.up_to >= r.depth
    JOIN variants v ON v.number = l.variant
    LEFT JOIN revisions t ON t.artifact = v.artifact AND t.oid = v.latest
  WHERE r.number = ? AND iif(r.archived, v.latest = r.oid, t.depth IS NULL OR t.depth < r.depth)`
/** The line of commits is followed only if the head is archived. */
const SET_LATEST = `
  UPDATE variants SET latest = CASE
    WHEN NOT EXISTS (SELECT 1 FROM revisions r WHERE r.artifact = variants.artifact AND r.oid = variants.head AND r.archived) THEN head
    ELSE (
      SELECT r.oid FROM lines l JOIN revisions r ON r.segment = l.segment AND r.depth <= l.up_to
      WHERE l.variant = variants.number AND r.artifact = variants.artifact AND NOT r.archived
      ORDER BY r.depth DESC LIMIT 1)
    END
  WHERE number = ?`
const PLACE = 'SELECT segment, depth FROM revisions WHERE artifact = ? AND oid = ?'
const ENDS_AT = 'SELECT 1 FROM segments WHERE number = ? AND tip = ?'
const ADD_SEGMENT = 'INSERT INTO segments (artifact, base, base_depth, tip) VALUES (?, ?, ?, ?)'
const ADD_LINES = `
  WITH RECURSIVE behind (segment, up_to) AS (
    VALUES (?, ?)
    UNION ALL
    SELECT s.base, s.base_depth FROM behind JOIN segments s ON s.number = behind.segment WHERE s.base IS NOT NULL)
  INSERT INTO lines (segment, variant, up_to) SELECT segment, ?, up_to FROM behind`
const ADD_REVISION = `
  INSERT INTO revisions (artifact, segment, author, family, seconds, depth, oid, digits, is_long, message, archived, searched)
  VALUES (?, ?, (SELECT number FROM authors WHERE author = ?), ?, ?, ?, ?, ?, ?, ?, ?, 0)`
