import fc from 'fast-check'
import type { Operation, Register, Version } from '../../proofs/linear/operation.ts'

/** Three versions, each of which holds its own token as its `message`. */
export const THREE: readonly Version[] = ['one', 'two', 'three'].map((token) => ({
  token,
  values: new Map([['message', token]]),
}))

/** Acknowledged writes and reads of a register of three versions, a few at once; some of the histories could happen, some not. */
export const arbitrarySmallRegister: fc.Arbitrary<Register> = fc
  .record({
    writes: fc.tuple(...THREE.map(() => arbitraryTimes())),
    others: fc.array(
      fc.record({ times: arbitraryTimes(), version: fc.integer({ min: 1, max: 3 }), isRead: fc.boolean() }),
      { maxLength: 3 },
    ),
  })
  .map(({ writes, others }) => {
    const written = writes.map((times, index): Operation => {
      return { kind: 'write', token: THREE[index]?.token ?? '', version: index + 1, ...times }
    })
    const rest = others.map(({ times, version, isRead }): Operation => {
      const token = THREE[version - 1]?.token ?? ''
      if (isRead) return { kind: 'read', version, key: 'message', value: token, ...times }
      return { kind: 'refused', token: 'late', base: version === 3 ? 2 : version, ...times }
    })
    return { versions: THREE, before: 0, operations: [...written, ...rest] }
  })

function arbitraryTimes(): fc.Arbitrary<{ start: number; end: number; client: string }> {
  return fc
    .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 12 }))
    .map(([start, took]) => ({ start, end: start + took, client: 'ann' }))
}

/** The definition itself: whether some order keeps what came one after the other, and makes every answer right. Tries them all. */
export function hasAnOrder(remaining: readonly Operation[], version = 0): boolean {
  if (remaining.length === 0) return true
  return remaining.some((next, index) => {
    if (remaining.some((other) => other.end < next.start)) return false
    const after = applied(next, version)
    return (
      after !== undefined &&
      hasAnOrder(
        remaining.filter((_, at) => at !== index),
        after,
      )
    )
  })
}

/** The version after an operation; undefined if it cannot be answered so at `version`. */
function applied(operation: Operation, version: number): number | undefined {
  if (operation.kind === 'read') return operation.version === version ? version : undefined
  if (operation.kind === 'write') return operation.version === version + 1 ? version + 1 : undefined
  // Who names a base has seen it before.
  if (operation.kind === 'refused') return version > operation.base ? version : undefined
  return version
}
