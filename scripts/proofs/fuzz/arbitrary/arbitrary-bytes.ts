import fc from 'fast-check'

/** The bytes after one to four changes: a bit turned, a byte set, a piece removed, doubled or put in, the end cut off. */
export function arbitraryBytesOf(bytes: Buffer): fc.Arbitrary<Buffer> {
  const change = fc.record({
    kind: fc.constantFrom('flip', 'flip', 'set', 'remove', 'double', 'insert', 'cut'),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    length: fc.integer({ min: 1, max: 40 }),
    value: fc.integer({ min: 0, max: 255 }),
  })
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) =>
    changes.reduce((before, { kind, at, length, value }) => {
      const place = Math.floor(at * before.length)
      const head = before.subarray(0, place)
      const tail = before.subarray(place)
      switch (kind) {
        case 'flip':
          return before.length === 0
            ? before
            : changed(before, place, (before[place] ?? 0) ^ (1 << (value % 8)))
        case 'set':
          return before.length === 0 ? before : changed(before, place, value)
        case 'remove':
          return Buffer.concat([head, tail.subarray(length)])
        case 'double':
          return Buffer.concat([head, tail.subarray(0, length), tail])
        case 'insert':
          return Buffer.concat([head, Buffer.alloc(length, value), tail])
        default:
          return head
      }
    }, bytes),
  )
}

function changed(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = value
  return copy
}
