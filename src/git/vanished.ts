/** A pack that was listed is gone: `git gc` or `git repack` has put its objects elsewhere meanwhile. Look again. */
export class Vanished extends Error {
  override readonly name = 'Vanished'
}
