import type { Oid } from '../../git/objects.ts'
import {
  asStored,
  type ChangedPosition,
  changedPositions,
  assertFewRows,
  readBlobs,
} from '../../registry/testsets.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { unlessDamaged, type Registry } from '../../registry/registries.ts'
import type { RowsBehind, RowsStep } from './index/search-rows.ts'
import type { AskIndex } from './index/search-work.ts'

const ROWS_PER_TRANSACTION = 500
const MAX_BYTES_PER_STEP = 1024 ** 2

/**
 * Indexes rows of testsets that opt in. Updates a variant's rows from one commit to another: only changed folders are compared, and only rows
 * that are not yet indexed are read.
 */
export class RowFeed {
  readonly beforeQuestion = 4
  // Another thread does most of the work.
  readonly rest = 2
  readonly #registry: Registry
  readonly #ask: AskIndex

  constructor(registry: Registry, ask: AskIndex) {
    this.#registry = registry
    this.#ask = ask
  }

  async next(): Promise<boolean> {
    const behind = await this.#ask('rowsBehind', {})
    if (!behind) return this.#ask('removeRows', {})
    const artifact = this.#registry.index.viewAt(behind.path)
    // The artifact is gone.
    if (!artifact) return false
    const step = await unlessDamaged(this.#registry, artifact, () => this.#stepOf(artifact, behind))
    if (step) return this.#ask('writeRows', { step })
    // If the old rows are unreadable, indexing starts over.
    const head = behind.state?.tree === undefined ? behind.head : undefined
    return this.#ask('giveUpRows', { variant: behind.variant, head })
  }

  async #stepOf(artifact: ArtifactView, { variant, state, head }: RowsBehind): Promise<RowsStep> {
    const slice = new TimeSlice()
    const { objects, path } = artifact.repository
    const tree = await rowsOfCommit(artifact, head)
    const from = state?.position ?? ''
    if (from === '') await assertFewRows(objects, tree, path, slice)
    const behind = Buffer.from(from, 'hex').toString('latin1')
    const changes: ChangedPosition[] = []
    for await (const some of changedPositions(objects, { before: state?.tree, after: tree }, behind, slice)) {
      for (const change of some) changes.push(change)
      if (changes.length >= ROWS_PER_TRANSACTION) break
    }
    const oids = changes.flatMap(({ after }) => after?.oid ?? [])
    const unknown = await this.#ask('unknownRows', { variant, oids })
    const bytes = unknown.length > 0 ? await readBlobs(objects, unknown, undefined, MAX_BYTES_PER_STEP) : []
    const blobs = new Map(bytes.map((it, index) => [unknown[index] ?? '', it.toString()]))
    // Long rows are read in later steps.
    const unread = new Set(unknown.slice(bytes.length))
    const end = changes.findIndex(({ after }) => after !== undefined && unread.has(after.oid))
    const taken = end < 0 ? changes : changes.slice(0, end)
    const done = taken.map(({ position, after }) => [hexOfPosition(position), after?.oid] as const)
    const isAll = taken.length === changes.length && changes.length < ROWS_PER_TRANSACTION
    const to = isAll
      ? { head, tree, position: undefined }
      : { head, tree: state?.tree, position: done.at(-1)?.[0] ?? from }
    return { variant, from: state, to, changes: done, blobs }
  }
}

/** The tree of a revision's rows; undefined without rows. Refuses unreadable data. */
export async function rowsOfCommit(
  { revisions, repository }: ArtifactView,
  oid: Oid,
): Promise<Oid | undefined> {
  const { payload } = await revisions.read(repository.objects, oid)
  return payload && asStored(payload).tree
}

function hexOfPosition(position: string): string {
  return Buffer.from(position, 'latin1').toString('hex')
}
