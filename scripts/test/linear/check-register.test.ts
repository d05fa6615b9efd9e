import type { Operation, Register, Version } from '../../proofs/linear/operation.ts'
import { expect } from 'chai'
import fc from 'fast-check'
import { checkRegister } from '../../proofs/linear/check-register.ts'

const WRITES: readonly Operation[] = [
  { kind: 'write', token: 'one', version: 1, start: 0, end: 10, client: 'ann' },
  { kind: 'write', token: 'two', base: 1, start: 10, end: 20, client: 'bob' },
  { kind: 'write', token: 'three', start: 30, end: 40, client: 'ann' },
]

describe('linearizability: the checker', () => {
  it('says what trying every order says', () => {
    const seen = { yes: 0, no: 0 }
    fc.assert(
      fc.property(arbitrarySmallRegister, (register) => {
        const isFine = checkRegister(register).length === 0
        seen[isFine ? 'yes' : 'no']++
        expect(isFine).to.equal(hasAnOrder(register.operations))
      }),
      { numRuns: 2000 },
    )
    expect(Math.min(seen.yes, seen.no)).to.be.greaterThan(100)
  })

  it('takes a read of either side of a write that it overlaps', () => {
    for (const version of [2, 3]) expect(check(read(version, 35, 45))).to.deep.equal([])
  })

  it('catches a stale read', () => {
    expect(check(read(2, 41, 42))).to.match(
      /version 3 came before the end of write of "three".*read of version 2/,
    )
  })

  it('catches a read of what is not yet written', () => {
    expect(check(read(3, 21, 29))).to.match(/before the end of read of version 3/)
  })

  it('catches two reads that go back in time while a write is under way', () => {
    expect(check(read(3, 31, 32))).to.deep.equal([])
    expect(check(read(3, 31, 32), read(2, 33, 34))).to.match(/version 3 came before/)
  })

  it('catches a read of the right version with another’s content', () => {
    const wrong = { ...read(2, 21, 22), value: 'one' } as Operation
    expect(check(wrong)).to.match(/the version holds two/)
  })

  it('catches a lost update', () => {
    const lost: Operation = { kind: 'write', token: 'four', version: 4, start: 50, end: 60, client: 'cid' }
    expect(check(lost)).to.match(/"four".*is lost/)
    expect(check(read(4, 61, 62))).to.match(/only 3 versions/)
  })

  it('catches a version that was given twice', () => {
    const again: Operation = { kind: 'write', token: 'three', version: 2, start: 15, end: 45, client: 'cid' }
    expect(check(again)).to.match(/answered as version 2, and is 3/)
    const doubled = { versions: [...THREE, THREE[0]!], before: 0, operations: WRITES }
    expect(checkRegister(doubled).join()).to.match(/"one" is both version 1 and 4/)
  })

  it('catches a compare-and-set that should have been refused, and one that should not', () => {
    const missed: Operation = { kind: 'write', token: 'three', base: 1, start: 30, end: 40, client: 'cid' }
    expect(check(missed)).to.match(/was to follow version 1, and is 3/)
    const early: Operation = { kind: 'refused', token: 'four', base: 2, start: 21, end: 29, client: 'cid' }
    expect(check(early)).to.match(/version 3 came before the end of refused/)
    const never: Operation = { kind: 'refused', token: 'four', base: 3, start: 50, end: 60, client: 'cid' }
    expect(check(never)).to.match(/nothing came after its base/)
    const stored: Operation = { kind: 'refused', token: 'two', base: 1, start: 10, end: 20, client: 'cid' }
    expect(check(stored)).to.match(/was refused, and is version 2/)
  })

  it('catches what nobody asked for, and forgives what got no answer', () => {
    const others = WRITES.slice(0, 2)
    const unanswered: Operation = { kind: 'unsure', token: 'three', start: 30, end: 31, client: 'ann' }
    expect(checkRegister({ versions: THREE, before: 0, operations: others }).join()).to.match(/nobody asked/)
    expect(checkRegister({ versions: THREE, before: 0, operations: [...others, unanswered] })).to.deep.equal(
      [],
    )
    const gone: Operation = { ...unanswered, token: 'five' }
    expect(check(gone)).to.deep.equal([])
  })
})

function read(version: number, start: number, end: number): Operation {
  return {
    kind: 'read',
    version,
    key: 'message',
    value: THREE[version - 1]?.token ?? '',
    start,
    end,
    client: 'dan',
  }
}

/** What the checker says of the three writes and `more`: nothing, or all of it as one text. */
function check(...more: readonly Operation[]): readonly string[] | string {
  const problems = checkRegister({ versions: THREE, before: 0, operations: [...WRITES, ...more] })
  return problems.length === 0 ? problems : problems.join('\n')
}

/** Three versions, each of which holds its own token as its `message`. */
const THREE: readonly Version[] = ['one', 'two', 'three'].map((token) => ({
  token,
  values: new Map([['message', token]]),
}))

/** Acknowledged writes and reads of a register of three versions, a few at once; some of the histories could happen, some not. */
const arbitrarySmallRegister: fc.Arbitrary<Register> = fc
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
function hasAnOrder(remaining: readonly Operation[], version = 0): boolean {
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
