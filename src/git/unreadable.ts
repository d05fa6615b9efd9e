/** Bytes that are not what git's formats promise: one copy of an object, or a pack index. The message says why. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
