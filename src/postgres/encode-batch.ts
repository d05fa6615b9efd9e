import type { Proposal, ProposedWrite } from '../git/following/shared-log.ts'
import { liveFolder, type FolderMove } from '../git/trash/folder-move.ts'

/** What the function `append` of the database is given of a batch. */
export interface EncodedBatch {
  /** What is locked, so that names are compared and new things made one after the other. */
  readonly names: readonly string[]
  /** The repositories that are locked. */
  readonly repositories: readonly string[]
  /** In JSON: the proposals, each with its number, in rounds that come one after the other. In a round none is in the way of another. */
  readonly rounds: string
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
  const items = proposals.map(({ writes, needs, seen, moved, purged, notes }, item) => ({
    item,
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
    rounds: JSON.stringify(inRounds(proposals).map((numbers) => numbers.map((number) => items[number]))),
    packed: Buffer.concat(bytes),
  }
}

/** The numbers of proposals by rounds: what comes after another one that touches the same comes in a later round. */
function inRounds(proposals: readonly Proposal[]): readonly (readonly number[])[] {
  const rounds: number[][] = []
  /** The first round that is open to what touches this. */
  const open = new Map<string, number>()
  let openToAll = 0
  for (const [number, proposal] of proposals.entries()) {
    const touched = [...namesIn(proposal), ...repositoriesIn(proposal)]
    // Names that go with a repository are known to the database alone.
    const isRemoval = proposal.moved !== undefined || proposal.purged !== undefined
    const round = isRemoval
      ? rounds.length
      : touched.reduce((latest, name) => Math.max(latest, open.get(name) ?? 0), openToAll)
    ;(rounds[round] ??= []).push(number)
    if (isRemoval) openToAll = round + 1
    for (const name of touched) open.set(name, round + 1)
  }
  return rounds
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
