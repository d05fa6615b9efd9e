import { expect } from 'chai'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import { indexBytes } from '../../../src/cluster/following/folder/index-bytes.ts'
import { hashObject } from '../../../src/git/objects/object.ts'
import { encodePack } from '../../../src/git/packs/pack-writer.ts'

describe('git: the index of a pack that came without one', () => {
  it('is the one that was made with the pack', () => {
    const objects = ['a', '', 'x'.repeat(700), 'y'.repeat(300_000)].map((text) => {
      const bytes = Buffer.from(text)
      return { kind: 'blob' as const, bytes, oid: hashObject('blob', bytes) }
    })
    const { name, pack, index } = encodePack(objects)
    expect(indexBytes(name, pack)?.equals(index)).to.equal(true)
  })

  it('is left to git where the pack holds deltas, and refused where the bytes are others', () => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-index-'))
    try {
      git(folder, ['init', '-q'])
      for (const text of ['one\n', 'more\n', 'and more\n']) {
        writeFileSync(join(folder, 'file'), `${'a line that stays\n'.repeat(500)}${text}`)
        git(folder, ['add', '.'])
        git(folder, ['commit', '-q', '-m', text])
      }
      git(folder, ['repack', '-adq'])
      const packs = join(folder, '.git/objects/pack')
      const file = readdirSync(packs).find((name) => name.endsWith('.pack')) ?? ''
      const name = file.slice(0, -'.pack'.length)
      const pack = readFileSync(join(packs, file))
      expect(indexBytes(name, pack)).to.equal(undefined)
      pack[20]! ^= 1
      expect(() => indexBytes(name, pack)).to.throw(/not those it is named after/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
