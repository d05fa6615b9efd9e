import { Refusal } from '../../errors.ts'
import type { Oid } from './object.ts'

/** One copy that could not be used: which file, and what is wrong with it. */
export interface DamagedCopy {
  readonly file: string
  readonly reason: string
}

/** No sound copy of an object is left in a repository (`damaged_repository`); damaged bytes are never served. */
export class DamagedObject extends Refusal {
  readonly oid: Oid
  readonly copies: readonly DamagedCopy[]

  constructor(gitdir: string, oid: Oid, copies: readonly DamagedCopy[]) {
    const found = copies.map(({ file, reason }) => `${file}: ${reason}`).join('; ')
    super(
      'damaged_repository',
      `Object ${oid} of ${gitdir} cannot be read (${found}). Run git fsck there and fetch the object from a clone or a backup.`,
    )
    this.oid = oid
    this.copies = copies
  }
}

/** Bytes that are not what git's formats promise: one copy of an object, or a pack index. The message says why. */
export class CorruptObject extends Error {
  override readonly name = 'Unreadable'
}

/** A pack that was listed is gone: `git gc` or `git repack` has put its objects elsewhere meanwhile. Look again. */
export class PackGone extends Error {
  override readonly name = 'Vanished'
}
