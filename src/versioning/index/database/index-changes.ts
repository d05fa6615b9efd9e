import type { Refusal } from '../../../errors.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import { type DatabaseFile, utf8Of, bytesOf } from '../../../storage/sqlite/database-file.ts'
import { damageOf } from '../damage-of.ts'
import type { IndexEntry } from '../index-entry.ts'
import { saveView } from '../saved-view.ts'
import { piecesBefore, removeArtifact, writeArtifact, writeUnreadable } from './write-artifact.ts'
import type { Oid } from '../../../git/objects/object.ts'
import { type CommitFacts, readFacts } from './commit-facts.ts'

/** What the database takes its rows from. */
export interface IndexSource {
  /** The artifact at a place, `<family>/<slug>`, as last looked at; undefined where none is. */
  readonly at: (path: string) => IndexEntry | undefined
  /** All of them. */
  readonly entries: () => Iterable<IndexEntry>
  /** Whether it has all artifacts: until then what the file has would be taken for gone. */
  readonly isComplete: () => boolean
  /** Told that the file has a view now, as this text. */
  readonly saved: (view: ArtifactView, text: string) => void
  /** Looks at an artifact once more: something has moved that nobody told of. */
  readonly look: (entry: IndexEntry) => Promise<void>
  /** Told of what is wrong with the file, once for each reason. */
  readonly onTrouble: (reason: string) => void
}

/** A change of one artifact's rows, in a transaction; false where it has to be worked out again. */
export interface IndexChange {
  readonly path: string
  /** What may be written before, each in a transaction of its own, for as long as the answer is true; absent where all of it is little. */
  readonly before?: readonly (() => boolean)[]
  readonly write: () => boolean
  /** Whether the next start can go on from it. */
  readonly isSaved: boolean
  /** To be called once it is written for good. */
  readonly written?: () => void
}

/** An artifact that is written to all the time is looked at again. */
const MAX_LOOKS = 5

/** Works out what is to be written of artifacts. */
export class IndexChanges {
  /** Why the commits of an artifact could not be read, by its place. */
  readonly unreadable = new Map<string, Refusal>()
  readonly #source: IndexSource

  constructor(source: IndexSource) {
    this.#source = source
  }

  /** What is to be written of the artifact at this place. */
  async of(file: DatabaseFile, path: string, slice: TimeSlice): Promise<IndexChange> {
    this.unreadable.delete(path)
    let entry = this.#source.at(path)
    for (let tries = 0; entry; tries++) {
      const { view } = entry
      const before = seenAt(file, path)
      // One that has been begun is as good as none.
      const isSame = (): boolean => (seenAt(file, path) ?? '') === (before ?? '')
      try {
        const commits = await missingCommits(file, view, slice)
        // Another server may have written what it saw later: the last to write has to have seen everything.
        if (entry.repository.freshRefs() === view.source.refs || tries === MAX_LOOKS) {
          const text = saveView(view)
          const write = (): boolean => isSame() && writeArtifact(file, view, commits, text)
          const pieces = piecesBefore(file, view, commits)
          const change = { path, write, before: pieces.map((piece) => () => isSame() && piece()) }
          if (text === undefined) return { ...change, isSaved: false }
          return { ...change, isSaved: true, written: () => this.#source.saved(view, text) }
        }
      } catch (error) {
        const reason = damageOf(error, path)
        if (!reason) throw error
        this.unreadable.set(path, reason)
        return { path, write: () => isSame() && writeUnreadable(file, view), isSaved: true }
      }
      await this.#source.look(entry)
      entry = this.#source.at(path)
    }
    const [family = '', slug = ''] = path.split('/')
    return { path, write: () => removeArtifact(file, family, slug), isSaved: true }
  }
}

function seenAt(file: DatabaseFile, path: string): string | undefined {
  const [family = '', slug = ''] = path.split('/')
  const [row] = file.rows<{ seen: ArrayBuffer }>(SEEN_AT, family, slug)
  return row && utf8Of(row.seen)
}

const SEEN_AT = 'SELECT CAST(seen AS BLOB) AS seen FROM artifacts WHERE family = ? AND slug = ?'

/**
 * The facts of the commits on the first-parent lines of an artifact that the file has not got yet, by oid. Refuses with
 * `damaged_repository` if one of them cannot be read.
 */
export async function missingCommits(
  file: DatabaseFile,
  { family, slug, variants, repository }: ArtifactView,
  slice: TimeSlice,
): Promise<ReadonlyMap<Oid, CommitFacts>> {
  const missing = new Map<Oid, CommitFacts>()
  const isKnown = (oid: Oid): boolean =>
    missing.has(oid) || file.rows(KNOWN, family.folder, slug, bytesOf(oid)).length > 0
  for (const { head } of variants) {
    // Each is asked for in the file.
    await slice.pause()
    for (let oid = head; oid !== undefined && !isKnown(oid); oid = missing.get(oid)?.parent) {
      missing.set(oid, await readFacts(repository.objects, oid))
      await slice.pause()
    }
  }
  return missing
}

const KNOWN = `
  SELECT 1 FROM artifacts JOIN revisions ON revisions.artifact = artifacts.number
  WHERE artifacts.family = ? AND artifacts.slug = ? AND revisions.oid = ?`
