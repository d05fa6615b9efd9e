import fc from 'fast-check'
import type { ObjectKind } from '../../../../src/git/objects/object.ts'
import { encodeTree } from '../../../../src/git/objects/object.ts'

/** A folder whose trees name the one below them again and again: a few objects that unfold to very many files. */
export interface Unfolding {
  readonly levels: number
  /** How often each tree names the one below it. */
  readonly breadth: number
  /** Whether the lowest folder has a file in it. */
  readonly hasFile: boolean
}

/** More files and folders than a commit may unfold to. */
const TOO_MANY = 1_000_000

export const arbitraryUnfolding: fc.Arbitrary<Unfolding | undefined> = fc.option(
  fc.record({
    levels: fc.integer({ min: 0, max: 60 }),
    breadth: fc.integer({ min: 1, max: 16 }),
    hasFile: fc.boolean(),
  }),
  { nil: undefined, freq: 2 },
)

/** Whether it is more than a push may bring. */
export function isTooMuch({ levels, breadth, hasFile }: Unfolding): boolean {
  let size = hasFile ? 1 : 0
  for (let level = 0; level < levels && size <= TOO_MANY; level++) size = breadth + breadth * size
  return size + 2 > TOO_MANY
}

/** Adds its objects and answers the id of its folder. git has no empty folder in a commit of its own making, and takes one. */
export function addUnfolding(
  { levels, breadth, hasFile }: Unfolding,
  add: (kind: ObjectKind, bytes: Buffer) => string,
): string {
  const file = hasFile
    ? [{ mode: '100644' as const, name: 'file', oid: add('blob', Buffer.from('x\n')) }]
    : []
  let tree = add('tree', encodeTree(file))
  for (let level = 0; level < levels; level++) {
    const below = tree
    const names = Array.from({ length: breadth }, (_, at) => at.toString(16))
    tree = add('tree', encodeTree(names.map((name) => ({ mode: '40000' as const, name, oid: below }))))
  }
  return tree
}
