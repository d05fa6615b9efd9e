import { Refusal } from '../../errors.ts'
import type { Oid } from './object.ts'

/** A copy of an object that could not be used, and why. */
export interface DamagedCopy {
  readonly file: string
  readonly reason: string
}

/** An object of a repository has no intact copy left (`damaged_repository`). Damaged bytes are never served. */
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

/** Bytes that violate git's formats: a copy of an object, or a pack index. The message says why. */
export class CorruptObject extends Error {
  override readonly name = 'Unreadable'
}

/** A listed pack is gone, because `git gc` or `git repack` has moved its objects. Look again. */
export class PackGone extends Error {
  override readonly name = 'Vanished'
}
