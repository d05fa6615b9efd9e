import { expect } from 'chai'
import { unifiedDiff } from '../../src/versioning/unified-diff.ts'

describe('unified diff', () => {
  it('looks as git diff prints it', () => {
    expect(unifiedDiff('data.json', 'a\nb\nc\n', 'a\nB\nc\n')).to.equal(
      '--- a/data.json\n+++ b/data.json\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
    )
  })

  it('names /dev/null for a file that came or went', () => {
    expect(unifiedDiff('script.py', undefined, 'x\n')).to.match(/^--- \/dev\/null\n\+\+\+ b\/script\.py\n/)
    expect(unifiedDiff('script.py', 'x\n', undefined)).to.match(/^--- a\/script\.py\n\+\+\+ \/dev\/null\n/)
  })

  it('shows two large texts without anything in common as removed and added whole, at once', () => {
    const [before, after] = ['a', 'b'].map((letter) =>
      Array.from({ length: 20_000 }, (_, n) => `${letter}${n}\n`).join(''),
    )
    const diff = unifiedDiff('data.json', before, after)
    expect(diff).to.contain('@@ -1,20000 +1,20000 @@\n-a0\n')
    expect(diff.split('\n')).to.have.length(40_004)
  })
})
