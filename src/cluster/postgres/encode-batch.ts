import type { Proposal } from '../following/shared-log.ts'
import { liveFolder, type FolderMove } from '../../git/trash.ts'

/** The arguments of the database function `append`. */
export interface EncodedBatch {
  /** Names that are locked, so that concurrent batches compare and create them one after the other. */
  readonly names: readonly string[]
  /** Repositories that are locked. */
  readonly repositories: readonly string[]
  /** The proposals as JSON, in rounds that are applied in order (see roundOf). Proposals of one round do not affect each other. */
  readonly rounds: string
  /** The bytes of all packs, concatenated. */
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
  return {
    names: proposals.flatMap(namesIn),
    repositories: [...new Set(proposals.flatMap(repositoriesIn))],
    rounds: JSON.stringify(inRounds(proposals).map((numbers) => roundOf(proposals, numbers, place))),
    packed: Buffer.concat(bytes),
  }
}

/** The numbers of proposals by rounds. A proposal comes in a later round than an earlier one that touches the same names or repositories. */
function inRounds(proposals: readonly Proposal[]): readonly (readonly number[])[] {
  const rounds: number[][] = []
  /** The first round for a proposal that touches the name or repository. */
  const open = new Map<string, number>()
  let openToAll = 0
  for (const [number, proposal] of proposals.entries()) {
    const touched = [...namesIn(proposal), ...repositoriesIn(proposal)]
    // Only the database knows which names a removed repository has, so a removal gets a round of its own.
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

/** A round as flat lists: proposals by number, and the parts of a write by the write's number in the round. */
function roundOf(proposals: readonly Proposal[], numbers: readonly number[], place: Place): object {
  const items: object[] = []
  const writes: object[] = []
  const moves: object[] = []
  const claims: object[] = []
  const needs: object[] = []
  const seen: object[] = []
  for (const item of numbers) {
    const proposal = proposals[item]
    if (!proposal) continue
    const { moved, purged, notes } = proposal
    const move = moved && { ...moved, repository: liveFolder(moved), isToTrash: isToTrash(moved) }
    items.push({ item, moved: move, purged, notes })
    for (const { repository, head, pack, staged, ...own } of proposal.writes) {
      const write = writes.length
      const packed = pack && { name: pack.name, ...place(pack.bytes) }
      writes.push({ item, write, repository, head, pack: packed, staged })
      for (const { ref, expected, target } of own.moves) moves.push({ write, ref, expected, target })
      for (const claim of own.claims) claims.push({ write, ...claim })
    }
    for (const repository of proposal.needs) needs.push({ item, repository })
    for (const [repository, version] of proposal.seen) seen.push({ item, repository, version })
  }
  return { items, writes, moves, claims, needs, seen }
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
