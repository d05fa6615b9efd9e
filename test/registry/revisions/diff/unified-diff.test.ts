import { expect } from 'chai'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { unifiedDiff } from '../../../../src/registry/revisions/diff-revisions.ts'
import { restsDuring } from '../../../support/rests.ts'

describe('unified diff', () => {
  it('looks as git diff prints it', async () => {
    expect(await unifiedDiff('data.json', 'a\nb\nc\n', 'a\nB\nc\n')).to.equal(
      '--- a/data.json\n+++ b/data.json\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
    )
  })

  it('names /dev/null for a file that came or went', async () => {
    expect(await unifiedDiff('script.py', undefined, 'x\n')).to.match(
      /^--- \/dev\/null\n\+\+\+ b\/script\.py\n/,
    )
    expect(await unifiedDiff('script.py', 'x\n', undefined)).to.match(
      /^--- a\/script\.py\n\+\+\+ \/dev\/null\n/,
    )
  })

  it('shows two large texts without anything in common as removed and added whole, at once', async () => {
    const [before, after] = ['a', 'b'].map((letter) =>
      Array.from({ length: 20_000 }, (_, n) => `${letter}${n}\n`).join(''),
    )
    const diff = await unifiedDiff('data.json', before, after)
    expect(diff).to.contain('@@ -1,20000 +1,20000 @@\n-a0\n')
    expect(diff.split('\n')).to.have.length(40_004)
  })

  it('of large texts is what a patch tool applies, and gives turns', async () => {
    const line = fc.constantFrom('a', 'b', '{', '}', '')
    const change = fc.record({ at: fc.nat(20_000), remove: fc.nat(3), add: fc.array(line, { maxLength: 3 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 8 }), fc.boolean(), async (changes, isEnded) => {
        const lines = Array.from({ length: 20_000 }, (_, n) => (n % 3 === 0 ? `line ${n}` : 'the same'))
        const before = lines.join('\n') + (isEnded ? '\n' : '')
        for (const { at, remove, add } of changes) lines.splice(at, remove, ...add)
        const after = `${lines.join('\n')}\n`
        const diff = await unifiedDiff('x', before, after)
        expect(applyPatch(before, diff) === after).to.equal(true)
        expect(diff.length).to.be.below(3000)
      }),
      { numRuns: 40 },
    )
    const long = Array.from({ length: 200_000 }, (_, n) => `${n % 7}\n`).join('')
    expect(await restsDuring(() => unifiedDiff('x', long, `0\n${long}1`))).to.be.at.least(50)
    expect(await restsDuring(() => unifiedDiff('x', long, undefined))).to.be.at.least(50)
  })

  it('of large texts looks as that of small ones', async () => {
    const padding = 'x'.repeat(60_000)
    for (const [before, after] of [
      ['a\nb\n', 'a\nc\nb'],
      ['1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\n5\n6\n7\n8\n9\nX\n'],
      ['1\n2\n3\n4\n5\n6\n7\n8\n9\n', 'X\n1\n2\n3\n4\n5\n6\n7\n8\nY\n9\n'],
      ['a', 'b'],
      ['', 'b\n'],
    ] as const) {
      const small = await unifiedDiff('x', `${before}P\n`, `${after}P\n`)
      const large = await unifiedDiff('x', `${before}${padding}\n`, `${after}${padding}\n`)
      expect(large.replaceAll(padding, 'P')).to.equal(small)
      const [alone, padded] = [await unifiedDiff('x', before, after), `${before}${'x'.repeat(100_001)}`]
      expect(await unifiedDiff('x', padded, undefined)).to.contain('+++ /dev/null\n@@ -1,')
      expect(alone).to.contain('@@')
    }
  })
})
