import { expect } from 'chai'
import { rowCounter } from '../../../../src/cli/commands/testsets.ts'
import type { FileType } from '../../../../src/registry/testsets/files/file-type.ts'

describe('counting rows while they go by', () => {
  for (const [what, type, text, rows] of [
    ['lines of CSV without the header', 'csv', 'a,b\n1,2\r\n3,4\n', 2],
    ['a CSV row of several lines once', 'csv', 'a,b\n"x\n""\ny",2\n', 1],
    ['no blank lines', 'csv', 'a\n\n1\r\n\r\n', 1],
    ['no row of a header', 'csv', 'a\n', 0],
    ['objects of an array', 'json', '[{"a":{"b":[{}]}},{"c":"}\\"}{["}]', 2],
    ['lines of JSON', 'jsonl', '{"a":{"b":"\\\\"}}\n{}\n', 2],
  ] as [string, FileType, string, number][]) {
    it(`counts ${what}, wherever the pieces are cut`, () => {
      const bytes = Buffer.from(text)
      expect(rowCounter(type)(bytes)).to.equal(rows)
      const count = rowCounter(type)
      let last = 0
      for (const byte of bytes) last = count(Uint8Array.of(byte))
      expect(last).to.equal(rows)
    })
  }
})
