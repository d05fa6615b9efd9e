import { expect } from 'chai'
import fc from 'fast-check'
import { MessageReader } from '../../../src/run/sandbox/interpreter.ts'

function encoded(letter: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length + 1)
  head.write(letter, 4)
  return Buffer.concat([head, body])
}

describe('sandbox: messages of interpreters', () => {
  it('are the same however the pipe cuts them', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 })
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 9 })), (bodies, cuts) => {
        const bytes = Buffer.concat(bodies.map((body) => encoded('V', body)))
        const reader = new MessageReader(100)
        const read: Buffer[] = []
        for (let at = 0, next = 0; at < bytes.length; next++) {
          const length = cuts[next] ?? 7
          for (const { letter, body } of reader.read(bytes.subarray(at, at + length)) ?? []) {
            expect(letter).to.equal('V')
            read.push(body)
          }
          at += length
        }
        expect(read.map((it) => [...it])).to.deep.equal(bodies.map((it) => [...it]))
      }),
    )
  })

  it('are refused when they are too long, before they are all there', () => {
    const head = encoded('V', Buffer.alloc(100)).subarray(0, 5)
    expect(new MessageReader(100).read(head)).to.equal(undefined)
    expect(new MessageReader(101).read(head)).to.deep.equal([])
    expect(new MessageReader(100).read(Buffer.alloc(4))).to.equal(undefined)
  })
})
