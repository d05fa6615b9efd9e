import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import type { StagedPack } from '../../../src/git/packs/pack-writer.ts'
import type { RefMove } from '../../../src/git/refs/ref-move.ts'
import type { RefReader } from '../../../src/git/refs/ref-store.ts'
import type { Decision } from '../../../src/git/transactions/arbiter.ts'
import { commitDrafts } from '../../../src/git/transactions/write-path.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'

/** Moves refs of a repository by the write path, without objects; `decide` is called when that decides. */
export async function moveRefs(
  fs: Fs,
  gitdir: string,
  refs: RefReader,
  moves: readonly RefMove[],
  decide: () => Promise<Partial<Decision> | void> = async () => undefined,
): Promise<void> {
  const decided = async () => ({
    complete: () => undefined,
    withdraw: async () => undefined,
    keep: () => true,
    ...(await decide()),
  })
  const arbiter = {
    decide: decided,
    finishFor: async () => undefined,
    untilSettled: async () => undefined,
    checkpoint: async () => undefined,
    notes: () => [],
    afterReturn: async () => undefined,
    close: async () => undefined,
  }
  const draft = {
    moves: () => [...moves],
    objects: new Map(),
    packs: new Set<StagedPack>(),
    notes: [],
    claims: [],
    needs: [],
    required: [],
  }
  const objects = new ObjectDatabase(fs, gitdir, new PackCache())
  await commitDrafts(arbiter, [{ repository: { fs, path: gitdir, objects, refs }, draft }])
}
