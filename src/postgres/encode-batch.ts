import type { Proposal, ProposedWrite } from '../git/following/shared-log.ts'
import { liveFolder, type FolderMove } from '../git/trash/folder-move.ts'

/** What the function `append` of the database is given of a batch. */
export interface EncodedBatch {
  /** What is locked, so that names are compared and new things made one after the other. */
  readonly names: readonly string[]
  /** The repositories that are locked. */
  readonly repositories: readonly string[]
  readonly items: string
  /** The bytes of all packs, one behind the other. */
  readonly packed: Buffer
}

export function encodeBatch(proposals: readonly Proposal[]): EncodedBatch {
  const bytes: Buffer[] = []
  let size = 0
  const place = (some: Buffer): { readonly from: number; readonly size: number } => {
    bytes.push(some)
    size += some.length
    return { from: size - some.length, size: some.length }
  }
  const items = proposals.map(({ writes, needs, seen, moved, purged, notes }) => ({
    writes: writes.map((write) => encodeWrite(write, place)),
    needs,
    seen: [...seen].map(([repository, version]) => ({ repository, version })),
    moved: moved && { ...moved, repository: liveFolder(moved), isToTrash: isToTrash(moved) },
    purged,
    notes,
  }))
  return {
    names: proposals.flatMap(namesIn),
    repositories: [...new Set(proposals.flatMap(repositoriesIn))],
    items: JSON.stringify(items),
    packed: Buffer.concat(bytes),
  }
}

type Place = (bytes: Buffer) => { readonly from: number; readonly size: number }

function encodeWrite({ pack, ...write }: ProposedWrite, place: Place): object {
  return { ...write, pack: pack && { name: pack.name, ...place(pack.bytes) } }
}

function namesIn({ writes }: Proposal): string[] {
  return [
    ...writes.flatMap(({ repository, head, claims }) => [
      ...(head === undefined ? [] : [repository]),
      ...claims.map(({ name }) => `${repository.split('/', 1)[0]}/${name}`),
    ]),
  ]
}

function repositoriesIn({ writes, needs, seen, moved, purged }: Proposal): string[] {
  return [
    ...writes.map(({ repository }) => repository),
    ...needs,
    ...seen.keys(),
    ...(moved ? [liveFolder(moved)] : []),
    ...(purged ? [purged.repository] : []),
  ]
}

function isToTrash({ to }: FolderMove): boolean {
  return to.includes('/.trash/')
}
